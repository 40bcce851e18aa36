//! Edits of the reference statements.

use super::Fault;
use crate::engine::Dialect;
use crate::statement::{EditError, Statements};

/// Why a fault cannot be planted in a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotPlant {
    /// The fault has no translation into statements.
    #[error("`{}` has no translation into statements", .0.as_str())]
    Untranslated(Fault),
    /// The dialect has no words for it.
    #[error("{0:?} has no words for it")]
    NoWords(Dialect),
    /// An edit finds nothing to change.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// One change to the reference statements.
pub(super) enum Edit {
    /// Makes a guard of a statement always true: statement, guard.
    DisableGuard(&'static str, &'static str),
    /// The same, where the engine has the statement; some strategies are not everywhere.
    DisableGuardIfAny(&'static str, &'static str),
    /// Puts another predicate in place of a guard: statement, guard, predicate.
    ReplaceGuard(&'static str, &'static str, &'static str),
    /// Replaces text in a statement: statement, from, to.
    Replace(&'static str, &'static str, &'static str),
    /// Puts another text in place of a statement.
    Set(&'static str, &'static str),
    /// Makes the first of these groups that can be made, all of it: engines differ in the statements
    /// that they have.
    EitherOf(&'static [&'static [Edit]]),
    /// Puts a predicate of its own dialect in place of a guard: statement, guard, and the predicates.
    ReplaceGuardByDialect(&'static str, &'static str, &'static [(Dialect, &'static str)]),
    /// Changes nothing on this dialect, and cannot be made on another.
    Only(Dialect),
    /// Lets a statement read the worker's own clock where it read the engine's.
    WorkerClock(&'static str),
}

impl Edit {
    /// Makes the change.
    ///
    /// # Errors
    /// [`CannotPlant`], when there is nothing to change, or the dialect has no words for it.
    pub(super) fn make(
        &self,
        dialect: Dialect,
        statements: &mut Statements,
        readings: &[&str],
    ) -> Result<(), CannotPlant> {
        match self {
            Self::DisableGuard(statement, guard) => statements.disable_guard(statement, guard)?,
            Self::DisableGuardIfAny(statement, guard) => {
                if statements.get(statement).is_some() {
                    statements.disable_guard(statement, guard)?;
                }
            }
            Self::ReplaceGuard(statement, guard, predicate) => {
                statements.replace_guard(statement, guard, predicate)?;
            }
            Self::ReplaceGuardByDialect(statement, guard, predicates) => {
                let own = predicates.iter().find(|(of, _)| *of == dialect);
                let (_, predicate) = own.ok_or(CannotPlant::NoWords(dialect))?;
                statements.replace_guard(statement, guard, predicate)?;
            }
            Self::Replace(statement, from, to) => statements.replace(statement, from, to)?,
            Self::Set(statement, text) => statements.set(statement, text)?,
            Self::EitherOf(groups) => first_that_fits(groups, dialect, statements, readings)?,
            Self::Only(of) if *of == dialect => {}
            Self::Only(_) => return Err(CannotPlant::NoWords(dialect)),
            Self::WorkerClock(statement) => read_caller(statement, statements, readings)?,
        }
        Ok(())
    }
}

/// Makes the first group whose every change can be made; the last group's error otherwise.
fn first_that_fits(
    groups: &[&[Edit]],
    dialect: Dialect,
    statements: &mut Statements,
    readings: &[&str],
) -> Result<(), CannotPlant> {
    let mut outcome = Err(CannotPlant::NoWords(dialect));
    for group in groups {
        let mut edited = statements.clone();
        outcome = group.iter().try_for_each(|edit| edit.make(dialect, &mut edited, readings));
        if outcome.is_ok() {
            *statements = edited;
            break;
        }
    }
    outcome
}

/// Puts the worker's own clock in place of the engine's. A statement that reads neither is an error.
fn read_caller(
    statement: &str,
    statements: &mut Statements,
    readings: &[&str],
) -> Result<(), EditError> {
    let mut outcome = Err(EditError::NoStatement(statement.to_owned()));
    for reading in readings {
        // No statement has every reading: one that was found is enough.
        let replaced = statements.replace(statement, reading, ":caller");
        outcome = replaced.or(outcome);
    }
    outcome
}
