//! One operation on its way: bounded, and written down when it is invoked and when it returns.

use std::future::Future;
use std::time::Duration;

use leaseproof_engines::{EngineError, ErrorKind};
use leaseproof_reports::history::{self, Call, Ending, Return, words};

use crate::history::translate::{self, Told};
use crate::history::{Recorder, effect};

/// The longest wait for any answer. It is twice the sessions' lock timeout, so that the engine's
/// own refusal always comes first and a session that stalls fails its case instead of hanging it.
const OPERATION_BOUND: Duration = Duration::from_secs(20);

type Answer<T> = Result<T, EngineError>;

/// Records one operation. It owns its parts, so that the session stays free to be borrowed.
///
/// An operation that is given up before it returns is recorded as that: that it waited may be the very
/// violation.
pub(super) struct Log {
    pub(super) engine: &'static str,
    pub(super) call: Call,
    pub(super) in_transaction: bool,
    pub(super) recorder: Recorder,
    /// Its number in the history; `None` once it has returned.
    pub(super) under_way: Option<u64>,
}

impl Log {
    pub(super) async fn run<T: Told>(
        mut self,
        operation: impl Future<Output = Answer<T>>,
    ) -> Answer<T> {
        let answer = match tokio::time::timeout(OPERATION_BOUND, operation).await {
            Ok(answer) => answer,
            Err(_) => Err(EngineError::new(
                self.engine,
                "answer",
                ErrorKind::Unavailable,
                format!(
                    "no answer within {} s to: {}",
                    OPERATION_BOUND.as_secs(),
                    words::call(&self.call)
                ),
            )),
        };
        self.settle(match &answer {
            Ok(told) => Return { ending: told.ending(&self.call), answer: told.answer() },
            Err(error) => Return {
                ending: effect::ending(&self.call, self.in_transaction, error),
                answer: translate::error(error),
            },
        });
        answer
    }

    fn settle(&mut self, returned: Return) {
        if let Some(operation) = self.under_way.take() {
            self.recorder.returned(operation, returned);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.settle(Return { ending: Ending::Unknown, answer: history::Answer::GivenUp });
    }
}
