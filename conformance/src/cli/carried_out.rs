//! Carrying out a plan of contracts while the user watches, for every command that runs some.

use std::path::Path;
use std::time::Instant;

use leaseproof_reports::{Outcome, Run, RunDir};

use super::error::CliError;
use super::output::out;
use super::progress::{Display, Wording};
use crate::run::known_failures::KnownFailures;
use crate::run::origin::{command_line, now, run_id};
use crate::run::suite::{self, Part, Plan};
use crate::run::summary::{self, Frame};

/// A plan that was carried out, with its reports written.
pub(super) struct CarriedOut {
    pub(super) run: Run,
    pub(super) directory: RunDir,
    pub(super) interrupted: bool,
    parts: Vec<Part>,
}

impl CarriedOut {
    /// Whether a server was given by URL and could not be used.
    pub(super) fn given_in_vain(&self) -> bool {
        self.parts.iter().any(Part::given_in_vain)
    }

    /// Says why engines are missing.
    pub(super) fn print_missing(&self) {
        for missing in self.parts.iter().filter_map(|part| part.server.as_ref().err()) {
            out!("{}", super::missing(missing));
        }
    }
}

/// Carries out a plan while the user watches, and writes its reports.
pub(super) async fn carry_out(
    plan: &Plan,
    known: &KnownFailures,
    out: &Path,
) -> Result<CarriedOut, CliError> {
    carry_out_as(run_id(now()), plan, known, out).await
}

/// Carries out a plan as the run with that id.
pub(super) async fn carry_out_as(
    id: String,
    plan: &Plan,
    known: &KnownFailures,
    out: &Path,
) -> Result<CarriedOut, CliError> {
    let started = now();
    // Before anything is started: a directory that cannot be written makes the rest pointless.
    let directory = RunDir::create(out, &id)?;
    let (contracts, engines) = (plan.contracts.len(), plan.selections.len());
    let shard = plan.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
    eprintln!("seed {}, contracts: {contracts}, engines: {engines}{shard}", plan.seed);
    let interrupt = super::interruptible()?;
    let clock = Instant::now();
    let display = Display::new(Wording {
        notable: |outcome| !matches!(outcome, Outcome::Kept | Outcome::Unsupported),
    });
    let options = super::provide_options()?;
    let parts = suite::run(plan, &options, &interrupt, &|event| display.show(&event)).await;
    display.clear();
    let replay_options = match out == Path::new("reports") {
        true => String::new(),
        false => format!(" --out '{}'", out.display()),
    };
    let (duration, command) = (clock.elapsed(), command_line());
    let frame = Frame { id, started, duration, command, replay_options };
    let mut save = |key: &str, history: Vec<u8>| directory.write_history(key, history);
    let run = summary::run_of(plan, &parts, known, frame, &mut save)?;
    directory.write_run(&run)?;
    if !run.cases.is_empty() {
        // `latest` stays at the last run that says something.
        directory.publish()?;
    }
    Ok(CarriedOut { run, directory, interrupted: interrupt.was_asked(), parts })
}

/// The known failures that ship with the suite, and those of a file.
pub(super) fn known_failures(file: Option<&Path>) -> Result<KnownFailures, CliError> {
    let mut known = KnownFailures::shipped();
    if let Some(path) = file {
        known.entries.extend(KnownFailures::read(path)?.entries);
    }
    Ok(known)
}
