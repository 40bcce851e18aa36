//! Writing to standard output: a reader that has seen enough, such as `head`, is no failure.

use std::fmt;
use std::io::Write as _;

/// Writes a line to standard output.
macro_rules! out {
    () => { $crate::cli::output::line(format_args!("")) };
    ($($argument:tt)*) => { $crate::cli::output::line(format_args!($($argument)*)) };
}
pub(super) use out;

pub(super) fn line(text: fmt::Arguments<'_>) {
    // The verdict is in the exit code, which does not depend on who reads to the end.
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}
