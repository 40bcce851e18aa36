//! Servers in containers, kept by the real program: shared, replaced when their keeper is killed,
//! and gone with their owner, however and whenever it ends.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use leaseproof_engines::servers::{
    Endpoint, OwnerPid, ProvideOptions, ProviderKind, Selection, provide, survey,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long anything here may take.
const BOUND: Duration = Duration::from_secs(120);
/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A process that owns servers until it is killed.
struct Owner {
    process: Child,
    id: OwnerPid,
}

impl Owner {
    fn start() -> Self {
        let process =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let id = OwnerPid::of(i32::try_from(process.id()).unwrap()).unwrap();
        Self { process, id }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn options(&self) -> ProvideOptions {
        let mut options = ProvideOptions::new(env!("CARGO_BIN_EXE_leaseproof"), self.id);
        options.native = false;
        options
    }

    /// Its containers, each as `ID KEEPER`.
    fn containers(&self) -> Vec<String> {
        let output = Command::new("docker")
            .args(["ps", "--all", "--no-trunc", "--filter", "label=org.leaseproof.owner"])
            .args([
                "--format",
                r#"{{.Label "org.leaseproof.owner"}} {{.ID}} {{.Label "org.leaseproof.keeper"}}"#,
            ])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mine = format!(":{} ", self.id);
        text.lines().filter_map(|line| Some(line.split_once(&mine)?.1.to_owned())).collect()
    }

    /// Where its processes and keepers meet, if it is there.
    fn meeting_point(&self) -> Option<PathBuf> {
        let root = format!("leaseproof-{}", nix::unistd::geteuid());
        let sessions = std::fs::read_dir(std::env::temp_dir().join(root)).ok()?;
        let ending = format!(".{}.{}", self.id.pid, self.id.start);
        let mut paths = sessions.flatten().map(|entry| entry.path());
        paths.find(|path| path.to_string_lossy().ends_with(&ending))
    }

    fn left_nothing(&self) -> bool {
        self.containers().is_empty() && self.meeting_point().is_none()
    }

    /// Whether no keeper holds the label's lock; a killed one may do so a moment longer than it lives.
    fn is_unkept(&self, selection: &Selection) -> bool {
        let lock = self.meeting_point().unwrap().join(format!("{}.lock", selection.label()));
        File::open(lock).unwrap().try_lock().is_ok()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A failed test must leave nothing either.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server that is quickest to start, if containers can be had here.
async fn selection() -> Option<Selection> {
    let selection = Selection::parse("mariadb").unwrap();
    let given = std::env::vars().any(|(name, _)| name.starts_with("LEASEPROOF_MARIADB_"));
    let client = Command::new("docker").arg("version").output();
    let client = client.is_ok_and(|output| output.status.success());
    let containers = survey(&selection).await.into_iter().any(|finding| {
        finding.usable
            && [ProviderKind::Container, ProviderKind::LocalImage].contains(&finding.provider)
    });
    if client && containers && !given {
        return Some(selection);
    }
    println!("skipped: no containers can be had here, or a server is given by URL");
    None
}

async fn becomes(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    let mut ticks = tokio::time::interval(LOOK);
    while !condition() {
        assert!(started.elapsed() < BOUND, "it never became true that {what}");
        ticks.tick().await;
    }
}

async fn answers(selection: &Selection, endpoint: &Endpoint) -> bool {
    selection.engine.identify(endpoint).await.is_ok()
}

#[tokio::test]
async fn a_container_is_shared_and_goes_with_its_killed_owner() {
    let Some(selection) = selection().await else { return };
    let mut owner = Owner::start();
    let options = owner.options();
    // Two at once, as the processes of a test run would ask.
    let (first, second) = tokio::join!(
        provide(&selection, &options, &|_| {}),
        provide(&selection, &options, &|_| {})
    );
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.address, second.address);
    assert_eq!(owner.containers().len(), 1);
    assert!(answers(&selection, &first).await);
    owner.kill();
    becomes("its containers and files are gone", || owner.left_nothing()).await;
    assert!(!answers(&selection, &first).await);
}

#[tokio::test]
async fn an_owner_that_dies_during_the_start_leaves_nothing() {
    let Some(selection) = selection().await else { return };
    let owner = Mutex::new(Owner::start());
    let options = owner.lock().unwrap().options();
    let kill_at_start = |step: leaseproof_engines::servers::Progress| {
        if step.message.starts_with("starting a container") {
            owner.lock().unwrap().kill();
        }
    };
    let provided = provide(&selection, &options, &kill_at_start).await;
    assert!(provided.is_err(), "a server without an owner was handed out");
    let owner = owner.into_inner().unwrap();
    becomes("its containers and files are gone", || owner.left_nothing()).await;
}

#[tokio::test]
async fn a_killed_keeper_is_replaced_and_its_container_removed() {
    let Some(selection) = selection().await else { return };
    let mut owner = Owner::start();
    let options = owner.options();
    let first = provide(&selection, &options, &|_| {}).await.unwrap();
    let before = owner.containers();
    let keeper: OwnerPid = before[0].split_once(' ').unwrap().1.parse().unwrap();
    kill(Pid::from_raw(keeper.pid), Signal::SIGKILL).unwrap();
    becomes("the keeper is dead", || owner.is_unkept(&selection)).await;
    let second = provide(&selection, &options, &|_| {}).await.unwrap();
    assert_ne!(first.address, second.address, "a server that nobody keeps was handed out");
    let after = owner.containers();
    assert_eq!(after.len(), 1, "{before:?} {after:?}");
    assert_ne!(after, before);
    assert!(answers(&selection, &second).await);
    owner.kill();
    becomes("its containers and files are gone", || owner.left_nothing()).await;
}
