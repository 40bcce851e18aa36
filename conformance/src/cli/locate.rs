//! What a user calls a run: a path, or an id where runs are written.

use std::path::{Path, PathBuf};

use leaseproof_reports::run_dir::{BENCH_JSON, LATEST, RUN_JSON};

/// The directory or file that is meant by `run`, where runs are written to `out`.
///
/// What is neither is returned as it is, so that the error of whoever reads it names it.
pub(super) fn locate(run: &Path, out: &Path) -> PathBuf {
    if run.exists() {
        return run.to_owned();
    }
    let is_run = |path: &Path| path.join(RUN_JSON).exists() || path.join(BENCH_JSON).exists();
    let places = [out.join("runs").join(run), out.join(run)];
    places.into_iter().find(|path| is_run(path)).unwrap_or_else(|| run.to_owned())
}

/// The same, for commands that need contracts: where `latest` was measured and has none, the newest run
/// that has.
pub(super) fn locate_contracts(run: &Path, out: &Path) -> PathBuf {
    let found = locate(run, out);
    let is_latest = run.file_name().is_some_and(|name| name == LATEST);
    if !is_latest || found.join(RUN_JSON).exists() {
        return found;
    }
    let runs = std::fs::read_dir(out.join("runs")).into_iter().flatten().flatten();
    let mut runs: Vec<PathBuf> = runs.map(|entry| entry.path()).collect();
    // Names begin with the time.
    runs.sort();
    runs.into_iter().rfind(|path| path.join(RUN_JSON).exists()).unwrap_or(found)
}
