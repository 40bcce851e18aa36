//! Reading and writing a history as JSON lines.

use std::io::{self, BufRead, Write};

use super::{Entry, HISTORY_SCHEMA, Header, Moment, Operation};
use crate::schema::{SchemaError, check_version};

/// Why a history cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The file cannot be read.
    #[error("the history cannot be read")]
    Read(#[from] io::Error),
    /// A line is not what a history holds.
    #[error("line {line} of the history is no entry")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// An operation returns that was not invoked, or twice.
    #[error(
        "line {line} of the history returns from operation {operation}, which is not under way"
    )]
    NotInvoked {
        /// Which line, from 1.
        line: usize,
        /// The number of the operation.
        operation: u64,
    },
    /// The schema is not one that this version reads.
    #[error("the history has a schema that this version does not read")]
    Version(#[source] SchemaError),
}

/// Writes the first line.
///
/// # Errors
/// When it cannot be written.
pub fn write_header(to: &mut dyn Write) -> io::Result<()> {
    let header = Header { history: HISTORY_SCHEMA.to_owned() };
    serde_json::to_writer(&mut *to, &header)?;
    to.write_all(b"\n")
}

/// Writes one entry.
///
/// # Errors
/// When it cannot be written.
pub fn write_line(to: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    serde_json::to_writer(&mut *to, entry)?;
    to.write_all(b"\n")
}

/// Every operation of a history, in the order of their invocations.
///
/// # Errors
/// [`HistoryError`] with the line that is wrong. A last line that was cut short is left out: whoever wrote
/// it was killed.
pub fn read(from: impl BufRead) -> Result<Vec<Operation>, HistoryError> {
    let mut operations: Vec<(u64, Operation)> = Vec::new();
    let mut lines = from.lines().enumerate().peekable();
    if let Some((_, first)) = lines.next() {
        let header: Header = parsed(&first?, 1)?;
        check_version(&header.history, HISTORY_SCHEMA).map_err(HistoryError::Version)?;
    }
    while let Some((index, line)) = lines.next() {
        let entry: Entry = match parsed(&line?, index + 1) {
            Ok(entry) => entry,
            Err(_) if lines.peek().is_none() => break,
            Err(error) => return Err(error),
        };
        let Entry { operation, at_us, moment } = entry;
        match moment {
            Moment::Invoked(invocation) => operations
                .push((operation, Operation { invocation, invoked_us: at_us, returned: None })),
            Moment::Returned(returned) => {
                let under_way =
                    operations.iter_mut().rev().find(|(number, _)| *number == operation);
                match under_way.map(|(_, operation)| &mut operation.returned) {
                    Some(slot @ None) => *slot = Some((at_us, returned)),
                    _ => return Err(HistoryError::NotInvoked { line: index + 1, operation }),
                }
            }
        }
    }
    Ok(operations.into_iter().map(|(_, operation)| operation).collect())
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str, line: usize) -> Result<T, HistoryError> {
    serde_json::from_str(text).map_err(|source| HistoryError::Line { line, source })
}
