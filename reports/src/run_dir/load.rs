//! Reading a run back.

use std::{fs, path::Path};

use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};

use super::{BENCH_JSON, RUN_JSON, ReadError};
use crate::{
    Loaded, Run,
    baseline::Baseline,
    bench::BenchRun,
    digest::{self, Seal},
    schema::{SchemaError, check_version},
};

/// The part of a report that every version has: what decides whether the rest can be read.
#[derive(Deserialize)]
struct Header {
    schema: String,
    #[serde(default)]
    tool: HeaderTool,
    /// Only a bench report has cells.
    cells: Option<IgnoredAny>,
    /// Only a baseline names its engine so.
    baseline: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct HeaderTool {
    version: Option<String>,
}

pub(super) fn load(path: &Path) -> Result<Run, ReadError> {
    let path = if path.is_dir() { &path.join(RUN_JSON) } else { path };
    let bytes = read(path)?;
    header(path, &bytes)?;
    valid(path, parse(path, &bytes)?, Run::validate)
}

/// A run as it is, however much it contradicts itself, and whether it is what was written.
pub(super) fn load_as_found(path: &Path) -> Result<(Run, Seal), ReadError> {
    let path = if path.is_dir() { &path.join(RUN_JSON) } else { path };
    let bytes = read(path)?;
    header(path, &bytes)?;
    let report: serde_json::Value = parse(path, &bytes)?;
    Ok((parse(path, &bytes)?, digest::check(&report)))
}

/// A run that is not known to have been edited: one without a digest, of an early version, is taken as it
/// is.
fn load_unedited(path: &Path) -> Result<Run, ReadError> {
    let (run, seal) = load_as_found(path)?;
    let run = valid(path, run, Run::validate)?;
    match seal {
        Seal::Broken => Err(ReadError::Edited { path: path.to_owned() }),
        Seal::Intact | Seal::Absent => Ok(run),
    }
}

pub(super) fn load_sealed(path: &Path) -> Result<Run, ReadError> {
    let (run, seal) = load_as_found(path)?;
    let run = valid(path, run, whole_or_shard)?;
    let path = path.to_owned();
    match seal {
        Seal::Intact => Ok(run),
        Seal::Broken => Err(ReadError::Edited { path }),
        Seal::Absent => Err(ReadError::Unsealed { path }),
    }
}

/// Like [`Run::validate`], but a shard may have no case: its engines may all be missing.
fn whole_or_shard(run: &Run) -> Result<(), SchemaError> {
    match run.validate() {
        Err(SchemaError::NoCases) if run.shard.is_some() => Ok(()),
        other => other,
    }
}

pub(super) fn load_bench(path: &Path) -> Result<BenchRun, ReadError> {
    let path = if path.is_dir() { &path.join(BENCH_JSON) } else { path };
    let bytes = read(path)?;
    header(path, &bytes)?;
    valid(path, parse(path, &bytes)?, BenchRun::validate)
}

/// Everything in a directory, or the one report that a file is.
pub(super) fn load_any(path: &Path) -> Result<Loaded, ReadError> {
    if !path.is_dir() {
        let bytes = read(path)?;
        let header = header(path, &bytes)?;
        if header.baseline.is_some() {
            return Ok(load_baseline(path)?.into_loaded());
        }
        return Ok(match header.cells {
            Some(_) => Loaded { bench: Some(load_bench(path)?), ..Loaded::default() },
            None => Loaded { run: Some(load_unedited(path)?), ..Loaded::default() },
        });
    }
    let [has_run, has_bench] = [RUN_JSON, BENCH_JSON].map(|name| path.join(name).is_file());
    if !has_bench {
        // Without either, the error names the file that every run of the contracts has.
        return Ok(Loaded { run: Some(load_unedited(path)?), bench: None });
    }
    let run = if has_run { Some(load_unedited(path)?) } else { None };
    Ok(Loaded { run, bench: Some(load_bench(path)?) })
}

/// A baseline that is what was written, and says something.
pub(super) fn load_baseline(path: &Path) -> Result<Baseline, ReadError> {
    let bytes = read(path)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    if header(path, &bytes)?.baseline.is_none() {
        return Err(ReadError::NoBaseline { path: path.to_owned() });
    }
    let value: serde_json::Value = parse(path, &bytes)?;
    let baseline: Baseline = parse(path, &bytes)?;
    match digest::check(&value) {
        Seal::Intact => {}
        Seal::Broken => return Err(ReadError::Edited { path: path.to_owned() }),
        Seal::Absent => return Err(ReadError::Unsealed { path: path.to_owned() }),
    }
    if baseline.run.is_none() && baseline.bench.is_none() {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    let schema = |source| ReadError::Schema { path: path.to_owned(), source };
    baseline.run.as_ref().map_or(Ok(()), Run::validate).map_err(schema)?;
    baseline.bench.as_ref().map_or(Ok(()), BenchRun::validate).map_err(schema)?;
    Ok(baseline)
}

fn read(path: &Path) -> Result<Vec<u8>, ReadError> {
    fs::read(path).map_err(|source| ReadError::Open { path: path.to_owned(), source })
}

fn header(path: &Path, bytes: &[u8]) -> Result<Header, ReadError> {
    let header: Header = parse(path, bytes)?;
    let tool = header.tool.version.as_deref().unwrap_or("of that schema");
    check_version(&header.schema, tool)
        .map_err(|source| ReadError::Schema { path: path.to_owned(), source })?;
    Ok(header)
}

fn valid<T>(
    path: &Path,
    report: T,
    check: fn(&T) -> Result<(), SchemaError>,
) -> Result<T, ReadError> {
    match check(&report) {
        Ok(()) => Ok(report),
        Err(source) => Err(ReadError::Schema { path: path.to_owned(), source }),
    }
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, ReadError> {
    serde_json::from_slice(bytes).map_err(|source| {
        let (path, line, column) = (path.to_owned(), source.line(), source.column());
        if source.is_eof() {
            ReadError::Truncated { path, line, column }
        } else {
            ReadError::Malformed { path, line, column, source }
        }
    })
}
