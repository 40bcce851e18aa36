//! The process that holds one server for as long as the run's owner lives.
//!
//! It is out of reach of a terminal's Ctrl-C, so it outlives the run by as long as cleaning up takes.

mod arguments;
mod start;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Mutex;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::servers::process::ProcessId;
use crate::servers::rendezvous::Rendezvous;
use crate::servers::{ProviderKind, Selection, ServerSpec, attempt, docker, stale};

use self::arguments::Arguments;
pub(crate) use self::arguments::arguments;

/// How often the owner is looked for.
const LOOK: Duration = Duration::from_millis(200);
/// How long removing containers may take before the keeper gives up.
const CLEANUP: Duration = Duration::from_secs(30);

/// What a keeper was started for.
pub(crate) struct Job {
    pub(crate) selection: Selection,
    pub(crate) spec: &'static ServerSpec,
    pub(crate) owner: ProcessId,
    pub(crate) keeper: ProcessId,
    pub(crate) place: Rendezvous,
    /// The password of the server to be, new for each.
    pub(crate) password: String,
    /// Held while a container is being started.
    pub(crate) starting: Arc<Mutex<()>>,
    pub(crate) docker: bool,
    pub(crate) fetch: bool,
    pub(crate) native: bool,
}

impl Job {
    /// Tells whoever waits of a step.
    pub(crate) fn tell(&self, message: &str) {
        self.place.tell(message);
    }
}

/// A command line that is not one of a keeper.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeeperError {
    /// An option is unknown, malformed or missing.
    #[error(
        "`{option}` is not what a keeper is started with; it is started by this program itself"
    )]
    Usage {
        /// The option.
        option: String,
    },
    /// The runtime or the files of the keeper failed.
    #[error("the keeper cannot work")]
    Io(#[from] io::Error),
}

/// Runs a keeper: what the hidden command `keep` is, with the arguments after that word.
///
/// It returns when the owner has ended and everything is removed. It starts a tokio runtime of its
/// own. Errors go to standard error, which whoever waits for the server reads.
///
/// # Panics
/// When it is called inside a tokio runtime.
#[must_use]
pub fn keeper_main(arguments: &[String]) -> ExitCode {
    // Fails only for the leader of a process group, which a keeper started by `provide` is not.
    let _ = nix::unistd::setsid();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            eprintln!("{error}{}", source.unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), KeeperError> {
    let job = Arguments::parse(arguments)?.into_job()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(keep(&job));
    runtime.shutdown_background();
    Ok(result?)
}

async fn keep(job: &Job) -> io::Result<()> {
    let stop = stopped(job)?;
    tokio::pin!(stop);
    let started = tokio::select! {
        started = start::start(job) => Some(started),
        () = &mut stop => None,
    };
    let published = match &started {
        Some(Ok(server)) => job.place.publish(server.endpoint()),
        Some(Err(missing)) => job.place.fail(missing),
        None => Ok(()),
    };
    if matches!(&started, Some(Err(_))) {
        // Whatever a failed attempt left must not wait for the owner's end.
        remove(job).await;
    }
    if published.is_ok() && started.is_some() {
        stop.await;
    }
    let containers = matches!(started, None | Some(Ok(start::Server::Container(_))));
    drop(started);
    stale::remove_native(&job.place).await;
    if containers {
        remove(job).await;
    }
    stale::sweep_embedded();
    job.place.clear();
    published
}

/// Removes what was started for this label: the containers by their label, because a start that was
/// broken off may have made one that nothing here knows of.
async fn remove(job: &Job) {
    stale::remove_native(&job.place).await;
    if !job.docker {
        return;
    }
    let removal = async {
        let _nothing_is_starting = job.starting.lock().await;
        let Ok(engine) = docker::connect().await else {
            return;
        };
        let ours = format!("{}={}", docker::KEEPER_LABEL, job.keeper);
        for container in docker::containers(&engine, &ours).await.unwrap_or_default() {
            if let Some(id) = container.id {
                let _ = docker::remove(&engine, &id).await;
            }
        }
    };
    let _ = timeout(CLEANUP, removal).await;
}

/// Ends when the owner has ended or asks for it, or this process is told to.
fn stopped(job: &Job) -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hangup.recv() => return,
                _ = ticks.tick() => if !job.owner.is_alive() || job.place.is_stopped() { return },
            }
        }
    })
}

/// What a provider that is switched off says.
pub(crate) fn switched_off(kind: ProviderKind) -> attempt::Attempt {
    attempt::Attempt::new(kind, "switched off", "")
}
