//! The record of a case: every operation with who invoked it, when, and what came back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use serde::Serialize;

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// It took effect, or returned what was asked.
    Ok,
    /// It was refused and changed nothing.
    Refused,
    /// It failed with an error and took no effect.
    Fail,
    /// Whether it took effect is unknown: no answer came.
    Info,
}

/// One operation, from its invocation to its return.
#[derive(Clone, Debug, Serialize)]
pub struct Operation {
    /// Who invoked it.
    pub actor: String,
    /// What was invoked, with its arguments.
    pub call: String,
    /// Microseconds from the start of the case to the invocation.
    pub invoked_us: u64,
    /// Microseconds from the start of the case to the return.
    pub returned_us: u64,
    /// How it ended.
    pub ending: Ending,
    /// What came back, in words.
    pub outcome: String,
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { actor, call, invoked_us, returned_us, outcome, .. } = self;
        write!(formatter, "{invoked_us}–{returned_us} µs {actor}: {call} → {outcome}")
    }
}

impl Operation {
    /// Whether both were under way at one moment.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.invoked_us < other.returned_us && other.invoked_us < self.returned_us
    }
}

/// Collects the operations of one case, in order of their return.
#[derive(Clone)]
pub struct Recorder {
    start: Instant,
    operations: Arc<Mutex<Vec<Operation>>>,
    observations: Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { start: Instant::now(), operations: Arc::default(), observations: Arc::default() }
    }
}

impl Recorder {
    /// Time since the case began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Adds an operation that has returned.
    ///
    /// # Panics
    /// Never: nobody panics while holding the list.
    pub fn add(&self, operation: Operation) {
        let mut operations = self.operations.lock().expect("nobody panics while holding the list");
        operations.push(operation);
    }

    /// Notes what was seen beside the verdict. Several values of one kind are all kept.
    ///
    /// # Panics
    /// Never: nobody panics while holding the notes.
    pub fn observe(&self, kind: &str, seen: impl Into<String>) {
        let mut notes = self.observations.lock().expect("nobody panics while holding the notes");
        notes.entry(kind.to_owned()).or_default().insert(seen.into());
    }

    /// Notes what the loser of a race was told: zero rows, or an error with its code and class.
    pub fn loser_saw<T>(&self, answer: &Result<T, EngineError>) {
        let seen = match answer {
            Ok(_) => "zero rows".to_owned(),
            Err(error) => {
                format!("{} ({})", error.code.as_deref().unwrap_or("no code"), error.kind)
            }
        };
        self.observe(leaseproof_reports::Case::LOSER, seen);
    }

    /// Everything noted so far.
    ///
    /// # Panics
    /// Never: nobody panics while holding the notes.
    #[must_use]
    pub fn observations(&self) -> BTreeMap<String, String> {
        let notes = self.observations.lock().expect("nobody panics while holding the notes");
        let joined = |seen: &BTreeSet<String>| seen.iter().cloned().collect::<Vec<_>>().join(" / ");
        notes.iter().map(|(kind, seen)| (kind.clone(), joined(seen))).collect()
    }

    /// Every operation so far.
    ///
    /// # Panics
    /// Never: nobody panics while holding the list.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.operations.lock().expect("nobody panics while holding the list").clone()
    }

    /// The last operations in words, one line each: what led to the finding.
    #[must_use]
    pub fn excerpt(&self) -> Vec<String> {
        const LINES: usize = 12;
        let operations = self.operations();
        let skipped = operations.len().saturating_sub(LINES);
        operations[skipped..].iter().map(ToString::to_string).collect()
    }

    /// The history as JSON lines, one operation each.
    #[must_use]
    pub fn to_json_lines(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for operation in self.operations() {
            serde_json::to_writer(&mut lines, &operation).expect("an operation is plain data");
            lines.push(b'\n');
        }
        lines
    }
}
