//! Statements for a queue that keeps its depth: an event that was claimed goes back to the tail.
//!
//! Only `release` is changed; claims, which are what is measured, stay the reference ones. The number
//! of attempts is then never taken back, so that it counts every acquisition there was.

use crate::statement::{EditError, Statements};

/// The statements with a `release` that moves the event behind `depth` others.
///
/// # Errors
/// When the statements have no release that can be changed so.
pub fn to_the_tail(mut statements: Statements, depth: u64) -> Result<Statements, EditError> {
    let tail = format!("due_at = due_at + {depth}");
    statements.replace("release", "attempt = attempt - 1", &tail)?;
    Ok(statements)
}

/// The statements with a `claim_batch` that sends what it claims to the tail, with a lease that is over
/// at once: a whole turn in one statement, which any load generator can send.
///
/// # Errors
/// When they have no such claim.
pub fn claims_to_the_tail(mut statements: Statements, depth: u64) -> Result<Statements, EditError> {
    let tail = format!("attempt = attempt + 1, due_at = event.due_at + {depth}");
    statements.replace("claim_batch", "attempt = attempt + 1", &tail)?;
    statements.replace("claim_batch", "lease_until = :until", "lease_until = :now")?;
    Ok(statements)
}

/// The statements with claims that wait for rows that others hold, where they stepped over them: the
/// fault that a measurement must show.
///
/// # Errors
/// When no claim of theirs steps over rows.
pub fn waiting_claims(mut statements: Statements) -> Result<Statements, EditError> {
    let names = ["claim_batch_lock", "claim_batch"];
    let edited = names.map(|name| statements.replace(name, " SKIP LOCKED", ""));
    match edited.iter().any(Result::is_ok) {
        true => Ok(statements),
        false => edited.into_iter().next().expect("there are two names").map(|()| statements),
    }
}

/// The statements without the names of indexes, which would be errors when the index is gone.
#[must_use]
pub fn without_index_hints(mut statements: Statements) -> Statements {
    for name in ["claim_batch_lock", "candidates"] {
        // An engine whose statements name no index has nothing to lose.
        drop(statements.replace(name, " FORCE INDEX (lease_event_claim)", ""));
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_can_requeue() {
        for engine in crate::REGISTRY {
            let statements = to_the_tail(engine.statements(), 100).unwrap();
            let release = statements.get("release").unwrap();
            assert!(release.contains("due_at = due_at + 100"), "{}: {release}", engine.name());
        }
    }
}
