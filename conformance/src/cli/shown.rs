//! What several commands print of a run or of a comparison.

use std::io::IsTerminal as _;

use leaseproof_reports::Run;
use leaseproof_reports::compare::Comparison;
use leaseproof_reports::format::{self, comparison as rendered};

use super::output::out;
use crate::plan::variant::Matrix;

/// The width of a comparison's table when nobody says another, in columns.
pub(super) const WIDTH: u16 = 120;

/// Prints the table, and with the full matrix also what the losers of races see.
pub(super) fn tables(run: &Run) {
    out!("{}", format::table::render(run, colour()));
    if run.matrix_name == Matrix::Full.as_str() {
        out!("{}", format::table::render_losers(run, format::table::WIDTH));
    }
}

/// What a comparison says, on a terminal; the last line is the verdict.
pub(super) fn comparison(found: &Comparison) {
    out!("{}", rendered::table(found, WIDTH).trim_end());
}

/// Colour on a terminal, unless `NO_COLOR` is set to anything.
fn colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !refused
}
