//! What an engine did when it was accepted: the part of a run that a later one is compared with, small
//! enough to be committed.
//!
//! Invariants: it is about one engine; it has contracts, measurements or both; it carries the digest of
//! everything else in it, so that one that was edited is refused.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Loaded, Run, RunDirError, Summary, atomic,
    bench::{BenchCell, BenchRun, Latency, Repeat},
    digest, format,
};

/// The `major.minor` version of the schema that this crate writes.
pub const BASELINE_SCHEMA: &str = "1.0";

/// What an engine did when it was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// The schema version, `major.minor`.
    pub schema: String,
    /// The engine, as runs name it: `postgres:18`.
    pub baseline: String,
    /// The contracts, without evidence.
    pub run: Option<Run>,
    /// The measurements, without histograms and series.
    pub bench: Option<BenchRun>,
    /// The digest of everything else.
    pub digest: Option<String>,
}

impl Baseline {
    /// What `loaded` says of the engine with that label; `None` when it says nothing.
    #[must_use]
    pub fn of(loaded: &Loaded, label: &str) -> Option<Self> {
        let Loaded { run, bench } = only(loaded, label);
        if run.is_none() && bench.is_none() {
            return None;
        }
        let mut baseline = Self {
            schema: BASELINE_SCHEMA.to_owned(),
            baseline: label.to_owned(),
            run: run.map(slim_run),
            bench: bench.map(slim_bench),
            digest: None,
        };
        let value = serde_json::to_value(&baseline);
        let value = value.expect("every map of a report has keys that are strings");
        baseline.digest = Some(digest::of(&value));
        Some(baseline)
    }

    /// The name of its file: `postgres-18.json`.
    #[must_use]
    pub fn file_name(label: &str) -> String {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
        let letters = label.chars().map(|letter| if plain(letter) { letter } else { '-' });
        format!("{}.json", letters.collect::<String>())
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Write`] with the file or directory that could not be written.
    pub fn write(&self, path: &Path) -> Result<(), RunDirError> {
        let failed = |source| RunDirError::Write { path: path.to_owned(), source };
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        atomic::write(path, format::json::pretty(self).as_bytes()).map_err(failed)
    }

    /// What a run is compared with.
    #[must_use]
    pub fn into_loaded(self) -> Loaded {
        Loaded { run: self.run, bench: self.bench }
    }
}

/// What was loaded, without every other engine; a part that says nothing of this one is gone.
#[must_use]
pub fn only(loaded: &Loaded, label: &str) -> Loaded {
    let run = loaded.run.as_ref().filter(|run| run.engine(label).is_some()).map(|run| {
        let mut run = run.clone();
        run.engines.retain(|engine| engine.label == label);
        run.cases.retain(|case| case.engine == label);
        let of_engine = format!("/{label}/");
        run.rotten.iter_mut().for_each(|entry| entry.kept.retain(|key| key.contains(&of_engine)));
        run.rotten.retain(|entry| !entry.kept.is_empty());
        run.summary = Summary::of(&run.cases, &run.engines);
        run
    });
    let bench = loaded.bench.as_ref().filter(|bench| bench.engine(label).is_some()).map(|bench| {
        let mut bench = bench.clone();
        bench.engines.retain(|engine| engine.name == label);
        bench.cells.retain(|cell| cell.engine == label);
        bench
    });
    Loaded {
        run: run.filter(|run| !run.cases.is_empty()),
        bench: bench.filter(|bench| !bench.cells.is_empty()),
    }
}

/// What nobody compares: where evidence is, and how a case is run again from a directory that will be gone.
fn slim_run(mut run: Run) -> Run {
    for case in &mut run.cases {
        case.history = None;
        case.replay = None;
        case.evidence.clear();
    }
    run.digest = None;
    run
}

fn slim_bench(mut bench: BenchRun) -> BenchRun {
    for cell in &mut bench.cells {
        slim_cell(cell);
    }
    bench
}

fn slim_cell(cell: &mut BenchCell) {
    for repeat in &mut cell.repeats {
        let latencies = std::mem::take(&mut repeat.latencies).into_iter();
        *repeat = Repeat {
            latencies: latencies
                .map(|(name, latency)| (name, Latency { histogram: String::new(), ..latency }))
                .collect(),
            series: Vec::new(),
            workers: Vec::new(),
            ..std::mem::take(repeat)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn loaded() -> Loaded {
        Loaded { run: Some(sample::kept()), bench: Some(sample::bench()) }
    }

    #[test]
    fn a_baseline_is_about_one_engine() {
        let baseline = Baseline::of(&loaded(), "postgres:18").unwrap();
        let run = baseline.run.as_ref().unwrap();
        assert!(run.cases.iter().all(|case| case.engine == "postgres:18"));
        assert_eq!(run.validate(), Ok(()));
        assert_eq!(baseline.bench, None, "the bench of the sample names no version");
        assert_eq!(Baseline::of(&loaded(), "oracle:23"), None);
        let bench = Baseline::of(&loaded(), "sqlite").unwrap().bench.unwrap();
        assert!(bench.cells.iter().all(|cell| cell.engine == "sqlite"));
        assert_eq!(bench.validate(), Ok(()));
    }

    #[test]
    fn a_file_is_named_after_engine_and_version() {
        assert_eq!(Baseline::file_name("postgres:18"), "postgres-18.json");
        assert_eq!(Baseline::file_name("mariadb:11.8.2"), "mariadb-11.8.2.json");
        assert_eq!(Baseline::file_name("sqlite"), "sqlite.json");
        assert_eq!(Baseline::file_name("../x"), "..-x.json");
    }
}
