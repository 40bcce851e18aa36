//! Faults that a store can have, and how the reference statements of each engine come by them.
//!
//! A fault is named by what it means. A store translates it into an edit of its own statements, or says why
//! it cannot have it. An edit that finds nothing to change is an error: a control must never change nothing.

mod ack;
mod backlog;
mod batch;
mod claim;
mod edit;
mod ledger;
mod list;
mod parts;
mod queue;
mod release;
mod renew;
mod tokens;
mod transaction;

pub use self::edit::CannotPlant;
pub use self::list::Fault;

use self::edit::Edit;
use crate::engine::Dialect;
use crate::statement::Statements;

/// Every translation, by what it concerns.
static TRANSLATIONS: &[&[(Fault, &[Edit])]] = &[
    ack::EDITS,
    backlog::EDITS,
    batch::EDITS,
    claim::EDITS,
    ledger::EDITS,
    queue::EDITS,
    release::EDITS,
    renew::EDITS,
    tokens::EDITS,
    transaction::EDITS,
];

/// Plants a fault in the reference statements of a dialect; `readings` are how they read the engine's clock.
///
/// # Errors
/// [`CannotPlant`], when the dialect cannot have the fault, or an edit finds nothing to change.
pub(crate) fn plant(
    fault: Fault,
    dialect: Dialect,
    statements: &mut Statements,
    readings: &[&str],
) -> Result<(), CannotPlant> {
    let all = TRANSLATIONS.iter().copied().flatten();
    let (_, edits) =
        all.into_iter().find(|(of, _)| *of == fault).ok_or(CannotPlant::Untranslated(fault))?;
    edits.iter().try_for_each(|edit| edit.make(dialect, statements, readings))
}

#[cfg(test)]
mod tests;
