//! What a run directory holds: contracts, measurements, or both.

use crate::{Run, bench::BenchRun};

/// What a report is rendered from; at least one of the two is there.
#[derive(Clone, Copy, Debug)]
pub struct Report<'run> {
    /// The contracts, from `run.json`.
    pub run: Option<&'run Run>,
    /// The measurements, from `bench.json`.
    pub bench: Option<&'run BenchRun>,
}

/// What was read from a run directory or from one of its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The contracts, from `run.json`.
    pub run: Option<Run>,
    /// The measurements, from `bench.json`.
    pub bench: Option<BenchRun>,
}

impl Loaded {
    /// What to render.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        Report { run: self.run.as_ref(), bench: self.bench.as_ref() }
    }

    /// The id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        let run = self.run.as_ref().map(|run| run.id.as_str());
        run.or(self.bench.as_ref().map(|bench| bench.id.as_str())).unwrap_or_default()
    }
}
