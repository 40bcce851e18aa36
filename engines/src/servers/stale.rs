//! Removing what a run left: its server's processes and files, and whatever a killed keeper could
//! not remove itself.
//!
//! Only what belongs to this user and this host is touched, and only when neither its owner nor
//! its keeper lives.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use serde::{Deserialize, Serialize};
use testcontainers::bollard::Docker;
use tokio::sync::OnceCell;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::servers::process::ProcessId;
use crate::servers::rendezvous::{self, Rendezvous, host, owner_in};
use crate::servers::{docker, embedded};

/// How long a server may take to end by itself; its data is thrown away, so there is no reason to wait longer.
const POLITE: Duration = Duration::from_secs(3);
/// How long its files may take to be free after that.
const FORCED: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// What a native server has left to be removed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NativeRecord {
    directory: PathBuf,
    process: Option<String>,
}

impl NativeRecord {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory, process: None }
    }

    pub(crate) fn running(mut self, process: Option<ProcessId>) -> Self {
        self.process = process.map(|process| process.to_string());
        self
    }

    async fn remove(&self) {
        let process = self.process.as_ref().and_then(|process| process.parse::<ProcessId>().ok());
        if let Some(process) = process.filter(|process| process.is_alive()) {
            // PostgreSQL ends at once and takes its children along; the others shut down.
            let _ = kill(process.raw(), Signal::SIGQUIT);
            if !becomes(POLITE, || !process.is_alive()).await {
                let _ = killpg(process.raw(), Signal::SIGKILL);
            }
        }
        // Its last children may still write for a moment.
        becomes(FORCED, || match std::fs::remove_dir_all(&self.directory) {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        })
        .await;
    }
}

/// Stops the native server of a label, if there is one, and removes its files.
pub(crate) async fn remove_native(place: &Rendezvous) {
    if let Ok(Some(record)) = place.load::<NativeRecord>("native.json") {
        record.remove().await;
        let _ = std::fs::remove_file(place.path("native.json"));
    }
}

/// Looks once per process for what earlier runs left. Costs one look at a directory where they left
/// nothing.
pub(crate) async fn sweep_once() {
    static SWEPT: OnceCell<()> = OnceCell::const_new();
    SWEPT.get_or_init(async || sweep().await).await;
}

/// Removes the directories of embedded engines whose process is gone.
pub(crate) fn sweep_embedded() {
    for engine in crate::REGISTRY {
        if engine.server().is_none() {
            sweep_directories(&embedded::base(engine.name()).1);
        }
    }
}

async fn sweep() {
    sweep_embedded();
    let mut swept = false;
    for (name, path) in entries(&rendezvous::root()) {
        if owner_in(&name).is_some_and(|owner| !owner.is_alive()) {
            swept |= sweep_session(&path).await;
        }
    }
    // Fails unless it is empty.
    let _ = std::fs::remove_dir(rendezvous::root());
    if swept && let Ok(engine) = docker::connect().await {
        sweep_containers(&engine).await;
    }
}

/// Removes a dead owner's meeting point, unless a keeper is still at it.
async fn sweep_session(directory: &Path) -> bool {
    let files = entries(directory);
    let labels: BTreeSet<_> =
        files.iter().filter_map(|(name, _)| name.strip_suffix(".lock")).collect();
    let mut locks = Vec::new();
    for label in &labels {
        match Rendezvous::at(directory.to_owned(), label).try_lock() {
            Ok(Some(lock)) => locks.push(lock),
            _ => return false,
        }
    }
    for label in &labels {
        remove_native(&Rendezvous::at(directory.to_owned(), label)).await;
    }
    std::fs::remove_dir_all(directory).is_ok()
}

fn sweep_directories(base: &Path) {
    for (name, path) in entries(base) {
        let session = name.strip_prefix(embedded::PREFIX).and_then(|rest| rest.rsplit_once('.'));
        let owner = session.and_then(|(session, _)| owner_in(session));
        if owner.is_some_and(|owner| !owner.is_alive()) {
            // Somebody else's, if it fails.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

/// Removes this host's containers whose owner and keeper are gone.
async fn sweep_containers(engine: &Docker) {
    remove_unkept(engine, |owner, _| !owner.is_alive()).await;
}

/// Removes what a killed keeper left, before another takes its place: of dead owners all, of a
/// living owner only the container of the same label, which nobody can be sharing any more.
pub(crate) async fn replace_containers(engine: &Docker, owner: ProcessId, label: &str) {
    remove_unkept(engine, |found, name| !found.is_alive() || (found == owner && name == label))
        .await;
}

/// Removes this host's containers whose keeper is gone and whose owner and label are meant.
async fn remove_unkept(engine: &Docker, is_meant: impl Fn(ProcessId, &str) -> bool) {
    for container in docker::containers(engine, docker::OWNER_LABEL).await.unwrap_or_default() {
        let labels = container.labels.unwrap_or_default();
        let value = |label: &str| labels.get(label).map(String::as_str).unwrap_or_default();
        let owner = value(docker::OWNER_LABEL).strip_prefix(&format!("{}:", host()));
        let owner = owner.and_then(|owner| owner.parse::<ProcessId>().ok());
        let keeper = value(docker::KEEPER_LABEL).parse::<ProcessId>().ok();
        let (Some(owner), Some(keeper), Some(id)) = (owner, keeper, container.id) else {
            continue;
        };
        if !keeper.is_alive() && is_meant(owner, value(docker::NAME_LABEL)) {
            let _ = docker::remove(engine, &id).await;
        }
    }
}

fn entries(directory: &Path) -> Vec<(String, PathBuf)> {
    let found = std::fs::read_dir(directory).into_iter().flatten().flatten();
    found.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect()
}

/// Waits until the condition holds; `false` if it does not within the bound.
async fn becomes(bound: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if condition() {
            return true;
        }
        if started.elapsed() > bound {
            return false;
        }
    }
}
