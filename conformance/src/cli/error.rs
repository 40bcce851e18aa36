//! What goes wrong before there is a result: each error says what, where and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use leaseproof_benches::suite::SuiteError;
use leaseproof_engines::servers::SelectionError;
use leaseproof_reports::compare::Incomparable;
use leaseproof_reports::merge::Refused;
use leaseproof_reports::{ReadError, RunDirError};
use miette::Diagnostic;

use crate::exit_code::Exit;
use crate::plan::shard::Shard;
use crate::run::known_failures::KnownFailuresError;

#[derive(Debug, thiserror::Error, Diagnostic)]
pub(super) enum CliError {
    #[error(transparent)]
    #[diagnostic(help("`leaseproof list engines` shows what there is"))]
    Selection(#[from] SelectionError),
    #[error("`{pattern}` is not a pattern")]
    #[diagnostic(help("use `*` and `?` as in file names: `--contract 'renew/*'`"))]
    Pattern { pattern: String, source: glob::PatternError },
    #[error("no contract is called `{pattern}`{}", .level.map(|level| format!(" at level `{level}`")).unwrap_or_default())]
    #[diagnostic(help("{}`leaseproof list contracts` shows what there is", .nearest.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default()))]
    NoContract {
        pattern: String,
        level: Option<leaseproof_reports::Level>,
        nearest: Option<&'static str>,
    },
    #[error(transparent)]
    #[diagnostic(help(
        "each `[[failure]]` has `engine`, `contract`, `reason`, and if wanted `versions` and `variant`"
    ))]
    Known(#[from] KnownFailuresError),
    #[error("shard {shard} has no case: the whole run has {cases}")]
    #[diagnostic(help("split the run into no more shards than it has cases"))]
    EmptyShard { shard: Shard, cases: usize },
    #[error("no engine was named and none can be provided")]
    #[diagnostic(help("`leaseproof doctor` says what is missing and how to get it"))]
    NoEngine,
    #[error("the results cannot be written")]
    #[diagnostic(help("free space or name another directory with `--out DIR`"))]
    Write(#[from] RunDirError),
    #[error("the run cannot be read")]
    #[diagnostic(help(
        "name a run directory, one of its files of JSON, or `latest`; a report that was cut or changed \
         has to be fetched or made again"
    ))]
    Read(#[from] ReadError),
    #[error("the runs must not be compared")]
    #[diagnostic(help("compare runs of the same engines, made with the same profile"))]
    Incomparable(#[from] Incomparable),
    #[error("the shards were not merged")]
    #[diagnostic(help(
        "give every shard of one run once, all made with the same options; `--partial` does without \
         those that are missing"
    ))]
    Merge(#[from] Refused),
    #[error("`{base}` and `{head}` are two engines; each is compared with itself only")]
    #[diagnostic(help(
        "name two versions of one engine: `leaseproof upgrade postgres:17 postgres:18`"
    ))]
    TwoEngines { base: String, head: String },
    #[error("there is no baseline `{}`{others}", .path.display())]
    #[diagnostic(help(
        "`leaseproof gate {engine} --update` writes it; `--baseline FILE` names another"
    ))]
    NoBaseline { path: PathBuf, engine: String, others: String },
    #[error("`{text}` is not one engine")]
    #[diagnostic(help("a page is about one: `leaseproof adopt postgres:18`"))]
    OneEngine { text: String },
    #[error("`{label}` is not an engine of the run in `{}`, whose engines are: {engines}", .run.display())]
    #[diagnostic(help("name one of these, or leave `--from` out to run the contracts on it"))]
    NoEngineIn { label: String, run: PathBuf, engines: String },
    #[error("no run is in `{}`", .path.display())]
    #[diagnostic(help("name run directories, their `run.json`, or what `--out` named"))]
    NoRun { path: PathBuf },
    #[error("no case `{case}` in `{}`", .run.display())]
    #[diagnostic(help("{}", .help))]
    NoCase { case: String, run: PathBuf, help: String },
    #[error("the image of `{label}` could not be built: {reason}")]
    #[diagnostic(help("`leaseproof doctor` lists the other ways to a server"))]
    Image { label: String, reason: String },
    #[error("no scenario is called `{pattern}`")]
    #[diagnostic(help("{}`leaseproof list scenarios` shows what there is", .nearest.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default()))]
    NoScenario { pattern: String, nearest: Option<&'static str> },
    #[error("the run was measured by a profile that this program does not have")]
    #[diagnostic(help("{help}"))]
    Profile { help: String },
    #[error("`{}` cannot be resumed: {reason}", .path.display())]
    #[diagnostic(help(
        "name the directory of an interrupted `leaseproof bench`, or measure anew without `--resume`"
    ))]
    Resume { path: PathBuf, reason: String },
    #[error("this program cannot start")]
    Runtime(#[source] io::Error),
}

impl CliError {
    /// Why a run ended before its plan.
    pub(super) fn of_suite(error: SuiteError, path: &Path) -> Self {
        match error {
            SuiteError::Save(error) => error.into(),
            changed => Self::Resume { path: path.to_owned(), reason: changed.to_string() },
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Selection(_)
            | Self::Known(_)
            | Self::Pattern { .. }
            | Self::NoCase { .. }
            | Self::Incomparable(_)
            | Self::OneEngine { .. }
            | Self::TwoEngines { .. }
            | Self::NoBaseline { .. }
            | Self::NoEngineIn { .. }
            | Self::Merge(_) => Exit::Usage,
            Self::NoContract { .. } | Self::NoScenario { .. } | Self::EmptyShard { .. } => {
                Exit::NothingSelected
            }
            Self::NoEngine | Self::Image { .. } => Exit::EngineMissing,
            Self::Profile { .. }
            | Self::Resume { .. }
            | Self::Write(_)
            | Self::Read(_)
            | Self::NoRun { .. }
            | Self::Runtime(_) => Exit::Unwritten,
        }
    }
}
