//! Images built on this machine from Debian's packages, for where no registry can be reached.
//!
//! The recipes of `images/` are part of the program, so that an installed one can build, too.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, interval};

use crate::servers::attempt::{Progress, ProgressFn};
use crate::servers::{ImageInfo, Recipe, Selection, docker};

const SCRIPT: &str = include_str!("../../images/build.sh");

/// How often the time that a step has taken so far is told.
const TELL: Duration = Duration::from_secs(5);

/// How many of the recipe's last lines are kept.
const WORDS: usize = 6;

/// An image that could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No recipe covers what is selected.
    #[error("no image of `{label}` can be built here; versions that can: {known}")]
    NoRecipe {
        /// What was selected.
        label: String,
        /// The versions there are recipes for.
        known: String,
    },
    /// The Docker engine does not answer.
    #[error("{reason}; {}", docker::REMEDY)]
    Docker {
        /// Why.
        reason: String,
    },
    /// The recipe could not be run.
    #[error("the recipe of `{label}` cannot be run: free space for temporary files, or set TMPDIR")]
    Run {
        /// What was selected.
        label: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The recipe gave up.
    #[error("{reason}")]
    Recipe {
        /// What was selected.
        label: String,
        /// The recipe's own last words, with a remedy.
        reason: String,
    },
}

impl BuildError {
    /// What a user can do, where the message does not say it already.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NoRecipe { .. } => Some("ask for a version that can be built here"),
            Self::Docker { .. } | Self::Run { .. } => Some(""),
            Self::Recipe { .. } => None,
        }
    }
}

/// The name and tag of the image built here; it never shadows an official one.
#[must_use]
pub fn name(selection: &Selection) -> String {
    format!("leaseproof/{}:{}", selection.engine.name(), selection.version)
}

/// Builds the image of what is selected, or finds it built; two builds at once make one image.
///
/// Takes 20 to 60 s and about 2 GiB of temporary space. Dropping the future stops the build, which
/// then removes what it made.
///
/// # Errors
/// When there is no recipe, or it cannot be run here, or it fails.
pub async fn build(
    selection: &Selection,
    progress: ProgressFn<'_>,
) -> Result<ImageInfo, BuildError> {
    let label = selection.label();
    let recipe = recipe(selection)?;
    let docker = docker::connect().await.map_err(|reason| BuildError::Docker { reason })?;
    let find = async || {
        let failed = |error: testcontainers::bollard::errors::Error| BuildError::Docker {
            reason: docker::explain(&error),
        };
        docker::image(&docker, &name(selection)).await.map_err(failed)
    };
    if let Some(found) = find().await? {
        return Ok(found);
    }
    let (status, words) = run(selection, recipe, progress)
        .await
        .map_err(|source| BuildError::Run { label: label.clone(), source })?;
    let reason = |otherwise: String| BuildError::Recipe {
        label: label.clone(),
        reason: if words.is_empty() { otherwise } else { words.clone() },
    };
    if !status.success() {
        return Err(reason(format!("building `{}` ended with {status}", name(selection))));
    }
    find().await?.ok_or_else(|| reason(format!("`{}` was built, and is not here", name(selection))))
}

/// The recipe of what is selected.
pub(crate) fn recipe(selection: &Selection) -> Result<&'static Recipe, BuildError> {
    let recipe = selection.engine.server().map(|spec| &spec.recipe);
    recipe.filter(|recipe| recipe.suite(&selection.version).is_some()).ok_or_else(|| {
        let versions = recipe.map(Recipe::versions).unwrap_or_default();
        BuildError::NoRecipe {
            label: selection.label(),
            known: if versions.is_empty() { "none".to_owned() } else { versions.join(", ") },
        }
    })
}

/// Runs the recipe, telling its steps, and returns its last words.
async fn run(
    selection: &Selection,
    recipe: &Recipe,
    progress: ProgressFn<'_>,
) -> std::io::Result<(ExitStatus, String)> {
    let directory = tempfile::Builder::new().prefix("leaseproof-recipe-").tempdir()?;
    let engine = selection.engine.name();
    unpack(directory.path(), engine, recipe)?;
    let child = Command::new("bash")
        .arg(directory.path().join("build.sh"))
        .args([engine, &selection.version])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let mut build = Group { child };
    let words = tokio::spawn(last_words(build.child.stderr.take()));
    if let Some(steps) = build.child.stdout.take() {
        relay(selection, steps, progress).await?;
    }
    let status = build.child.wait().await?;
    Ok((status, words.await.unwrap_or_default()))
}

fn unpack(directory: &Path, engine: &str, recipe: &Recipe) -> std::io::Result<()> {
    let own = directory.join(engine);
    std::fs::create_dir(&own)?;
    std::fs::write(directory.join("build.sh"), SCRIPT)?;
    std::fs::write(own.join("recipe.sh"), recipe.script)?;
    std::fs::write(own.join("entrypoint.sh"), recipe.entrypoint)
}

/// Tells each step as it comes, and how long the current one has taken.
async fn relay(
    selection: &Selection,
    steps: impl AsyncRead + Unpin,
    progress: ProgressFn<'_>,
) -> std::io::Result<()> {
    let started = Instant::now();
    let mut lines = BufReader::new(steps).lines();
    let mut ticks = interval(TELL);
    let mut step = "starting".to_owned();
    loop {
        tokio::select! {
            line = lines.next_line() => match line? {
                Some(line) => step = line,
                None => return Ok(()),
            },
            _ = ticks.tick() => {}
        }
        let seconds = started.elapsed().as_secs();
        progress(Progress {
            label: selection.label(),
            message: format!("building image ({step}, {seconds} s)"),
        });
    }
}

/// Reads to the end, so that the writer never waits, and keeps the last lines: the last one says what
/// went wrong, those before it are what the failed program wrote.
async fn last_words(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(stream) = stream else {
        return String::new();
    };
    let mut lines = BufReader::new(stream).lines();
    let mut last = VecDeque::new();
    while let Ok(Some(line)) = lines.next_line().await {
        last.push_back(line);
        if last.len() > WORDS {
            last.pop_front();
        }
    }
    let reason = last.pop_back().unwrap_or_default();
    let reason = reason.strip_prefix("build.sh: ").unwrap_or(&reason);
    if last.is_empty() {
        return reason.to_owned();
    }
    format!("{reason} ({})", Vec::from(last).join(" | "))
}

/// A build in a process group of its own. The script cleans up after itself when it is told to
/// stop, so nothing waits for it here.
struct Group {
    child: Child,
}

impl Drop for Group {
    fn drop(&mut self) {
        let running = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = running {
            // It may have ended by itself just now.
            let _ = killpg(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }
}
