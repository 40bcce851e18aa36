//! What is known of the effect of an operation that failed: by what it was, and what the engine said.
//!
//! The rule: a server undoes what it never committed. So a failed statement inside a transaction took no
//! effect, whatever became of the connection; a read never takes one. A commit, or a statement that is a
//! transaction of its own, took effect or not, and without an answer nobody knows; only an answer of the
//! server that says which settles it.

use leaseproof_engines::{EngineError, ErrorKind};
use leaseproof_reports::history::{Call, Ending};

/// How an operation that ended with this error ended; `in_transaction` is whether a transaction was open
/// when it was invoked.
#[must_use]
pub fn ending(call: &Call, in_transaction: bool, error: &EngineError) -> Ending {
    let decides = match call {
        Call::Commit => true,
        Call::Rollback => false,
        call => !in_transaction && !call.only_reads(),
    };
    match decides && !is_refusal(error) {
        true => Ending::Unknown,
        false => Ending::Fail,
    }
}

/// Whether the server itself said that it has undone or never begun the work: with a code of its own, and
/// not because it is going down.
fn is_refusal(error: &EngineError) -> bool {
    match error.kind {
        // Deadlock, serialization failure, busy, lock timeout, a read-only server: each is said after the
        // transaction was given up.
        ErrorKind::Retryable | ErrorKind::Fenced => true,
        ErrorKind::Unavailable => false,
        // An error without a code comes from the driver, which may have lost the answer.
        _ => error.code.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: ErrorKind, code: Option<&str>) -> EngineError {
        let error = EngineError::new("any", "do it", kind, "no");
        match code {
            Some(code) => error.with_code(code),
            None => error,
        }
    }

    fn ack() -> Call {
        Call::Ack { event: "e".into(), token: "t".into(), now: 1 }
    }

    #[test]
    fn what_is_unknown_is_decided_by_operation_and_code() {
        let lost = || error(ErrorKind::Unavailable, None);
        let shut_down = || error(ErrorKind::Unavailable, Some("57P01"));
        let serialization = || error(ErrorKind::Retryable, Some("40001"));
        let busy = || error(ErrorKind::Retryable, Some("5"));
        let read_only = || error(ErrorKind::Fenced, Some("25006"));
        let check = || error(ErrorKind::Fatal, Some("23514"));
        let garbled = || error(ErrorKind::Fatal, None);
        let read = Call::Candidates { limit: 1, now: 1 };
        let cases = [
            (Call::Commit, true, lost(), Ending::Unknown),
            (Call::Commit, true, shut_down(), Ending::Unknown),
            (Call::Commit, true, garbled(), Ending::Unknown),
            (Call::Commit, true, serialization(), Ending::Fail),
            (Call::Commit, true, busy(), Ending::Fail),
            (Call::Commit, true, check(), Ending::Fail),
            (ack(), false, lost(), Ending::Unknown),
            (ack(), false, shut_down(), Ending::Unknown),
            (ack(), false, garbled(), Ending::Unknown),
            (ack(), false, serialization(), Ending::Fail),
            (ack(), false, read_only(), Ending::Fail),
            (ack(), false, check(), Ending::Fail),
            (ack(), true, lost(), Ending::Fail),
            (ack(), true, garbled(), Ending::Fail),
            (Call::Rollback, true, lost(), Ending::Fail),
            (Call::Begin { reads_first: false }, false, lost(), Ending::Fail),
            (read, false, lost(), Ending::Fail),
        ];
        for (call, in_transaction, error, expected) in cases {
            let found = ending(&call, in_transaction, &error);
            assert_eq!(found, expected, "{call:?}, in a transaction: {in_transaction}: {error}");
        }
    }
}
