//! The directory of a run: `<root>/runs/<id>/`, and the link `<root>/latest` to the newest one.
//!
//! Invariants: no earlier run is overwritten; each report is there whole or not at all; `latest`
//! points only at a run whose `run.json` was written, and what somebody else put there is never
//! deleted.

mod error;
mod file_name;
mod load;

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

pub use error::{ReadError, RunDirError};

use crate::{
    Loaded, Report, Run, SchemaError, atomic, baseline::Baseline, bench::BenchRun,
    compare::Comparison, digest::Seal, format,
};

/// The file with the whole run, in the schema [`crate::SCHEMA`].
pub const RUN_JSON: &str = "run.json";
/// The file with everything that was measured, in the schema [`crate::bench::BENCH_SCHEMA`].
pub const BENCH_JSON: &str = "bench.json";
/// The file with the measurements in the Bencher Metric Format.
pub const BMF_JSON: &str = "bmf.json";
/// The file with the measurements in the text format of Go's benchmarks, for `benchstat`.
pub const BENCH_TXT: &str = "bench.txt";
/// The file with the measurements as one line of history, for Otava.
pub const HISTORY_CSV: &str = "history.csv";
/// The file with the summary for people, in Markdown.
pub const SUMMARY_MD: &str = "summary.md";
/// The file for tools that read test results, in JUnit's XML.
pub const JUNIT_XML: &str = "junit.xml";
/// The page for people, with everything that the directory holds.
pub const REPORT_HTML: &str = "report.html";
/// The files with a comparison: for programs, a step summary, readers of test results, and a browser.
pub const COMPARISON_JSON: &str = "comparison.json";
/// See [`COMPARISON_JSON`].
pub const COMPARISON_MD: &str = "comparison.md";
/// See [`COMPARISON_JSON`].
pub const COMPARISON_XML: &str = "comparison-junit.xml";
/// See [`COMPARISON_JSON`].
pub const COMPARISON_HTML: &str = "comparison.html";
/// The page for the decision whether to adopt an engine, in Markdown.
pub const ADOPT_MD: &str = "adopt.md";
/// The directory, inside that of the run, with one history per case that was not kept.
pub const HISTORIES: &str = "histories";
/// The link, beside `runs`, to the newest run.
pub const LATEST: &str = "latest";

/// The directory of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    root: PathBuf,
    id: String,
    path: PathBuf,
}

impl RunDir {
    /// Makes `<root>/runs/<id>/`, and `root` itself where it is missing.
    ///
    /// # Errors
    ///
    /// [`RunDirError::InvalidId`] when `id` is not a plain file name, [`RunDirError::Exists`] when
    /// there is such a run already, [`RunDirError::Write`] when the directory cannot be made.
    pub fn create(root: &Path, id: &str) -> Result<Self, RunDirError> {
        if !file_name::is_plain(id) {
            return Err(RunDirError::InvalidId { id: id.to_owned() });
        }
        let runs = root.join("runs");
        let path = runs.join(id);
        fs::create_dir_all(&runs).map_err(|source| RunDirError::write(&runs, source))?;
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self { root: root.to_owned(), id: id.to_owned(), path }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(RunDirError::Exists { path })
            }
            Err(source) => Err(RunDirError::write(&path, source)),
        }
    }

    /// A directory that [`RunDir::create`] made earlier; `None` when it is not `<root>/runs/<id>`.
    #[must_use]
    pub fn existing(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok().filter(|path| path.is_dir())?;
        let runs = path.parent().filter(|runs| runs.ends_with("runs"))?;
        let id = path.file_name()?.to_str()?.to_owned();
        Some(Self { root: runs.parent()?.to_owned(), id, path })
    }

    /// The directory itself, `<root>/runs/<id>`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that holds all runs and the link to the newest one.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of the directory, which is the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Writes `run.json`, `summary.md`, `junit.xml` and `report.html`, in this order, each
    /// atomically.
    ///
    /// Summary and page hold the measurements too when the directory has a `bench.json`. A run without
    /// cases is written too: its reports say that nothing ran, which is a failure in each of them,
    /// and [`RunDir::load`] refuses it.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Invalid`] when the run contradicts itself, and then nothing is written;
    /// [`RunDirError::Write`] with the file that could not be written.
    pub fn write_run(&self, run: &Run) -> Result<(), RunDirError> {
        match run.validate() {
            Ok(()) | Err(SchemaError::NoCases) => {}
            Err(source) => return Err(RunDirError::Invalid { source }),
        }
        let bench = load::load_bench(&self.path).ok();
        let report = Report { run: Some(run), bench: bench.as_ref() };
        self.write_files(&[
            (RUN_JSON, format::json::render(run)),
            (SUMMARY_MD, format::markdown::render_report(report)),
            (JUNIT_XML, format::junit::render(run)),
            (REPORT_HTML, format::html::render(report)),
        ])
    }

    /// Writes `bench.json`, `summary.md`, `bmf.json`, `bench.txt`, `history.csv` and `report.html`, in
    /// this order, each atomically.
    ///
    /// Summary and page hold the contracts too when the directory has a `run.json`. A run without cells
    /// is written too, and [`RunDir::load_bench`] refuses it.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Invalid`] when the run contradicts itself, and then nothing is written;
    /// [`RunDirError::Write`] with the file that could not be written.
    pub fn write_bench(&self, bench: &BenchRun) -> Result<(), RunDirError> {
        match bench.validate() {
            Ok(()) | Err(SchemaError::NoCells) => {}
            Err(source) => return Err(RunDirError::Invalid { source }),
        }
        let run = load::load(&self.path).ok();
        let report = Report { run: run.as_ref(), bench: Some(bench) };
        self.write_files(&[
            (BENCH_JSON, format::json::render_bench(bench)),
            (SUMMARY_MD, format::markdown::render_report(report)),
            (BMF_JSON, format::bench::bmf::render(bench)),
            (BENCH_TXT, format::bench::go::render(bench)),
            (HISTORY_CSV, format::bench::history::render(bench)),
            (REPORT_HTML, format::html::render(report)),
        ])
    }

    /// Writes `bench.json` alone, atomically: what a run that goes on can be resumed from.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Write`] with the file that could not be written.
    pub fn save_bench(&self, bench: &BenchRun) -> Result<(), RunDirError> {
        self.write_files(&[(BENCH_JSON, format::json::render_bench(bench))])
    }

    fn write_files(&self, files: &[(&str, String)]) -> Result<(), RunDirError> {
        for (name, text) in files {
            let path = self.path.join(name);
            atomic::write(&path, text.as_bytes())
                .map_err(|source| RunDirError::write(&path, source))?;
        }
        Ok(())
    }

    /// Writes the history of the case with the key `case_key`, and returns the path of the file
    /// relative to the run directory, as [`crate::Case::history`] holds it.
    ///
    /// A second history of the same case, from another repeat, gets a file of its own: the case
    /// may end up pointing at the first one.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Write`] with the file or directory that could not be written.
    pub fn write_history(
        &self,
        case_key: &str,
        bytes: impl AsRef<[u8]>,
    ) -> Result<String, RunDirError> {
        let directory = self.path.join(HISTORIES);
        fs::create_dir_all(&directory).map_err(|source| RunDirError::write(&directory, source))?;
        let stem = file_name::encode(case_key);
        let (path, name) = reserve(&directory, &stem)?;
        atomic::write(&path, bytes.as_ref()).map_err(|source| {
            // An empty history would look like one in which nothing happened.
            let _ = fs::remove_file(&path);
            RunDirError::write(&path, source)
        })?;
        Ok(format!("{HISTORIES}/{name}"))
    }

    /// Points `<root>/latest` at this run, in one step and with a relative path, so that the
    /// whole of `root` can be moved.
    ///
    /// # Errors
    ///
    /// [`RunDirError::NothingToPublish`] before [`RunDir::write_run`] or [`RunDir::write_bench`]
    /// has succeeded,
    /// [`RunDirError::NotALink`] when `latest` is something else than a link,
    /// [`RunDirError::Write`] when the link cannot be made.
    pub fn publish(&self) -> Result<(), RunDirError> {
        let run_json = self.path.join(RUN_JSON);
        if !run_json.is_file() && !self.path.join(BENCH_JSON).is_file() {
            return Err(RunDirError::NothingToPublish { path: run_json });
        }
        let latest = self.root.join(LATEST);
        match fs::symlink_metadata(&latest) {
            Ok(metadata) if !metadata.is_symlink() => {
                return Err(RunDirError::NotALink { path: latest });
            }
            _ => {}
        }
        atomic::link(&latest, &Path::new("runs").join(&self.id))
            .map_err(|source| RunDirError::write(&latest, source))
    }

    /// Renders `report.html` anew into `directory`, from what was loaded from it, and returns its path.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Write`] when the page cannot be written.
    pub fn write_page(directory: &Path, report: Report<'_>) -> Result<PathBuf, RunDirError> {
        let path = directory.join(REPORT_HTML);
        atomic::write(&path, format::html::render(report).as_bytes())
            .map_err(|source| RunDirError::write(&path, source))?;
        Ok(path)
    }

    /// Writes `adopt.md`, the page for a decision, into the directory of a run, and returns its path.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Write`] when the page cannot be written.
    pub fn write_adoption(directory: &Path, page: &str) -> Result<PathBuf, RunDirError> {
        let path = directory.join(ADOPT_MD);
        atomic::write(&path, page.as_bytes())
            .map_err(|source| RunDirError::write(&path, source))?;
        Ok(path)
    }

    /// Writes a comparison in every format that a pipeline shows, and returns the path of its page.
    ///
    /// # Errors
    ///
    /// [`RunDirError::Write`] with the file that could not be written.
    pub fn write_comparison(&self, comparison: &Comparison) -> Result<PathBuf, RunDirError> {
        self.write_files(&[
            (COMPARISON_JSON, format::comparison::json(comparison)),
            (COMPARISON_MD, format::comparison::markdown(comparison)),
            (COMPARISON_XML, format::comparison::junit(comparison)),
            (COMPARISON_HTML, format::comparison::html(comparison)),
        ])?;
        Ok(self.path.join(COMPARISON_HTML))
    }

    /// Reads the baseline in the file `path`, which must be what was written.
    ///
    /// # Errors
    ///
    /// [`ReadError`], as for [`RunDir::load`]; [`ReadError::Empty`] when it has neither contracts nor
    /// measurements, [`ReadError::Edited`] and [`ReadError::Unsealed`] when it is not what was written.
    pub fn load_baseline(path: impl AsRef<Path>) -> Result<Baseline, ReadError> {
        load::load_baseline(path.as_ref())
    }

    /// Reads the run at `path`: a run directory, a link to one, or a `run.json`.
    ///
    /// # Errors
    ///
    /// [`ReadError`], with the file and, for a file that is not a report, the line and column.
    pub fn load(path: impl AsRef<Path>) -> Result<Run, ReadError> {
        load::load(path.as_ref())
    }

    /// Reads the run at `path`, which must be what was written. A shard may have no case.
    ///
    /// # Errors
    ///
    /// [`ReadError`], as for [`RunDir::load`], and [`ReadError::Edited`] or [`ReadError::Unsealed`].
    pub fn load_sealed(path: impl AsRef<Path>) -> Result<Run, ReadError> {
        load::load_sealed(path.as_ref())
    }

    /// Reads the run at `path` as it is, even if it contradicts itself, and says whether it is what
    /// was written.
    ///
    /// # Errors
    ///
    /// [`ReadError`], when there is no run that this version can read.
    pub fn load_as_found(path: impl AsRef<Path>) -> Result<(Run, Seal), ReadError> {
        load::load_as_found(path.as_ref())
    }

    /// Reads the measurements at `path`: a run directory, a link to one, or a `bench.json`.
    ///
    /// # Errors
    ///
    /// [`ReadError`], as for [`RunDir::load`].
    pub fn load_bench(path: impl AsRef<Path>) -> Result<BenchRun, ReadError> {
        load::load_bench(path.as_ref())
    }

    /// Reads whatever is at `path`: a run directory with contracts, measurements or both, a link to
    /// one, or one of its two files of JSON.
    ///
    /// # Errors
    ///
    /// [`ReadError`], as for [`RunDir::load`]; a directory of which one file is broken is an error.
    pub fn load_any(path: impl AsRef<Path>) -> Result<Loaded, ReadError> {
        load::load_any(path.as_ref())
    }
}

/// Takes the first free name for a history, so that no two writers get the same one.
fn reserve(directory: &Path, stem: &str) -> Result<(PathBuf, String), RunDirError> {
    for attempt in 1_u32.. {
        let name = match attempt {
            1 => format!("{stem}.json"),
            _ => format!("{stem}~{attempt}.json"),
        };
        let path = directory.join(&name);
        match File::create_new(&path) {
            Ok(_) => return Ok((path, name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(source) => return Err(RunDirError::write(&path, source)),
        }
    }
    Err(RunDirError::write(directory, io::Error::from(ErrorKind::AlreadyExists)))
}
