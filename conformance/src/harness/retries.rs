//! Running a transaction again, as the engine asked for, and how often.

use leaseproof_engines::EngineError;

use crate::history::Recorder;

/// How often in a row a transaction may be run again before its error counts.
const MOST_RETRIES: usize = 8;

/// Counts how often a loser had to run its transaction again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retries {
    /// Retryable errors so far.
    pub total: usize,
    in_a_row: usize,
}

impl Retries {
    /// Whether the whole transaction is to be run again, as the engine asked for; what it said is noted as what
    /// the loser of a race sees.
    pub fn again<T>(&mut self, recorder: &Recorder, outcome: &Result<T, EngineError>) -> bool {
        if matches!(outcome, Err(error) if error.is_retryable()) {
            recorder.loser_saw(outcome);
        }
        self.rerun(outcome)
    }

    /// The same where there was no race.
    pub fn rerun<T>(&mut self, outcome: &Result<T, EngineError>) -> bool {
        let again = matches!(outcome, Err(error) if error.is_retryable());
        self.total += usize::from(again);
        self.in_a_row = if again { self.in_a_row + 1 } else { 0 };
        again && self.in_a_row <= MOST_RETRIES
    }
}
