//! The record of a case: every operation as data, written as it happens, and what was seen beside it.
//!
//! Invariants: an operation is written when it is invoked and again when it returns; what a recorder keeps
//! in memory does not grow with the history (whoever reads it back holds the operations of one case); a
//! history that could not be written is never read as if it were whole; no contract reads words.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use leaseproof_reports::Case;
use leaseproof_reports::history::words::Wording;
#[cfg(test)]
use leaseproof_reports::history::{Answer, Ending};
use leaseproof_reports::history::{
    Call, Entry, Invocation, Moment, Operation, Return, read, write_header, write_line,
};
use tempfile::SpooledTempFile;

pub mod effect;
pub mod translate;

/// What is kept in memory of a case's history, in bytes; beyond that it is in a file without a name, which
/// is gone with this process however that ends.
const IN_MEMORY: usize = 64 * 1024;

/// What was seen beside the verdict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Observation {
    /// What the losing session of a race was told: zero rows, or an error.
    Loser(Option<LoserError>),
}

/// The error that the losing session of a race sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoserError {
    /// The engine's own code.
    pub code: Option<String>,
    /// What the caller may do about it.
    pub kind: leaseproof_engines::ErrorKind,
}

impl Observation {
    /// Under which name reports hold it.
    fn name(&self) -> &'static str {
        match self {
            Self::Loser(_) => Case::LOSER,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Loser(None) => "zero rows".to_owned(),
            Self::Loser(Some(LoserError { code, kind })) => {
                format!("{} ({kind})", code.as_deref().unwrap_or("no code"))
            }
        }
    }
}

/// Records the operations of one case.
#[derive(Clone)]
pub struct Recorder {
    start: Instant,
    log: Arc<Mutex<Log>>,
    observations: Arc<Mutex<BTreeSet<Observation>>>,
}

struct Log {
    file: SpooledTempFile,
    operations: u64,
    /// The first thing that went wrong with the file; the history says nothing from there on.
    failed: Option<io::Error>,
}

impl Log {
    fn new() -> Self {
        let mut file = SpooledTempFile::new(IN_MEMORY);
        let failed = write_header(&mut file).err();
        Self { file, operations: 0, failed }
    }

    fn write(&mut self, entry: &Entry) {
        if self.failed.is_none() {
            self.failed = write_line(&mut self.file, entry).err();
        }
    }

    /// Everything written so far.
    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        if let Some(error) = &self.failed {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        self.file.flush()?;
        Ok(bytes)
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            log: Arc::new(Mutex::new(Log::new())),
            observations: Arc::default(),
        }
    }
}

impl Recorder {
    /// Time since the case began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Writes that an operation is invoked; its number, for [`Recorder::returned`].
    ///
    /// # Panics
    /// Never: nobody panics while holding the history.
    #[must_use = "an operation that was invoked returns or is given up"]
    pub fn invoked(&self, actor: &str, session: i64, call: Call) -> u64 {
        let invocation =
            Invocation { actor: actor.to_owned(), session: Some(session), process: None, call };
        let mut log = self.log();
        let operation = log.operations;
        log.operations += 1;
        let at_us = self.micros();
        log.write(&Entry { operation, at_us, moment: Moment::Invoked(invocation) });
        operation
    }

    /// Writes that it returned, or was given up.
    ///
    /// # Panics
    /// Never: nobody panics while holding the history.
    pub fn returned(&self, operation: u64, returned: Return) {
        let mut log = self.log();
        let at_us = self.micros();
        log.write(&Entry { operation, at_us, moment: Moment::Returned(returned) });
    }

    /// Notes what was seen beside the verdict. Several values of one kind are all kept.
    ///
    /// # Panics
    /// Never: nobody panics while holding the notes.
    pub fn observe(&self, observation: Observation) {
        let mut notes = self.observations.lock().expect("nobody panics while holding the notes");
        notes.insert(observation);
    }

    /// Notes what the loser of a race was told: zero rows, or an error with its code and class.
    pub fn loser_saw<T>(&self, answer: &Result<T, EngineError>) {
        let error = answer
            .as_ref()
            .err()
            .map(|error| LoserError { code: error.code.clone(), kind: error.kind });
        self.observe(Observation::Loser(error));
    }

    /// Everything noted so far, in words.
    ///
    /// # Panics
    /// Never: nobody panics while holding the notes.
    #[must_use]
    pub fn observations(&self) -> BTreeMap<String, String> {
        let notes = self.observations.lock().expect("nobody panics while holding the notes");
        let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for note in notes.iter() {
            words.entry(note.name().to_owned()).or_default().insert(note.words());
        }
        let joined = |seen: BTreeSet<String>| seen.into_iter().collect::<Vec<_>>().join(" / ");
        words.into_iter().map(|(name, seen)| (name, joined(seen))).collect()
    }

    /// Every operation so far, in the order of their invocations.
    ///
    /// # Errors
    /// When the history could not be written or read back.
    pub fn operations(&self) -> Result<Vec<Operation>, EngineError> {
        let bytes = self.to_json_lines()?;
        read(BufReader::new(bytes.as_slice())).map_err(|error| unwritten(&error))
    }

    /// The history as JSON lines.
    ///
    /// # Errors
    /// When it could not be written or read back, as on a full disk.
    ///
    /// # Panics
    /// Never: nobody panics while holding the history.
    pub fn to_json_lines(&self) -> Result<Vec<u8>, EngineError> {
        self.log().bytes().map_err(|error| unwritten(&error))
    }

    /// The last operations in words, one line each: what led to the finding.
    #[must_use]
    pub fn excerpt(&self, words: Wording) -> Vec<String> {
        const LINES: usize = 12;
        let mut operations = match self.operations() {
            Ok(operations) => operations,
            Err(error) => return vec![error.to_string()],
        };
        // As it came about: what returned last is what the finding speaks of.
        operations.sort_by_key(|one| one.returned.as_ref().map_or(u64::MAX, |(at, _)| *at));
        let skipped = operations.len().saturating_sub(LINES);
        operations[skipped..].iter().map(words).collect()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("nobody panics while holding the history")
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

fn unwritten(error: &dyn std::error::Error) -> EngineError {
    let message = format!("the history of the case is lost: {error}");
    EngineError::new(
        "leaseproof",
        "keep the history",
        leaseproof_engines::ErrorKind::Fatal,
        message,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_was_lost_stays_lost() {
        let recorder = Recorder::default();
        let operation = recorder.invoked("A", 1, Call::Commit);
        recorder.log().failed = Some(io::Error::other("the disk is full"));
        recorder.returned(operation, Return { ending: Ending::Ok, answer: Answer::Done });
        for _ in 0..2 {
            let error = recorder.operations().expect_err("a part of it is missing");
            assert!(error.message.contains("the disk is full"), "{error}");
        }
    }

    #[test]
    fn a_long_history_is_read_back_whole() {
        let recorder = Recorder::default();
        for _ in 0..2_000 {
            let operation = recorder.invoked("A", 1, Call::Commit);
            recorder.returned(operation, Return { ending: Ending::Ok, answer: Answer::Done });
        }
        let operations = recorder.operations().expect("it was written");
        assert_eq!(operations.len(), 2_000);
        assert!(operations.iter().all(|one| one.ending() == Ending::Ok));
        // Another wording is made of the same data.
        assert_eq!(recorder.excerpt(|_| "reworded".to_owned()), ["reworded"; 12]);
    }
}
