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

/// The statements with batch claims that send what they claim to the tail, with a lease that is over at
/// once: a whole turn without a release, which any load generator can send.
///
/// # Errors
/// When they have no such claim.
pub fn claims_to_the_tail(mut statements: Statements, depth: u64) -> Result<Statements, EditError> {
    let claims: Vec<_> = ["claim_batch", "claim_batch_mark"]
        .into_iter()
        .filter(|name| statements.get(name).is_some())
        .collect();
    if claims.is_empty() {
        return Err(EditError::NoStatement("claim_batch".to_owned()));
    }
    for name in claims {
        // A claim that joins what it picked must say whose column it means.
        let is_joined = statements.get(name).is_some_and(|text| text.contains(" AS event\n"));
        let due_at = if is_joined { "event.due_at" } else { "due_at" };
        let tail = format!("attempt = attempt + 1, due_at = {due_at} + {depth}");
        statements.replace(name, "attempt = attempt + 1", &tail)?;
        statements.replace(name, "lease_until = :until", "lease_until = :now")?;
    }
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

    #[test]
    fn every_engine_can_claim_to_the_tail() {
        for engine in crate::REGISTRY {
            let statements = claims_to_the_tail(engine.statements(), 100).unwrap();
            let claims = ["claim_batch", "claim_batch_mark"].map(|name| statements.get(name));
            for claim in claims.into_iter().flatten() {
                assert!(claim.contains("due_at + 100"), "{}: {claim}", engine.name());
                assert!(claim.contains("lease_until = :now"), "{}: {claim}", engine.name());
            }
        }
    }
}
