//! What can be shown of the providers without Docker: selections, URLs, surveys, installed programs,
//! and that nothing is left behind.
//!
//! Scenarios that need their own environment run in a process of their own: this test binary, asked
//! for one of its ignored tests. Its keeper is the same binary behind a script.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use leaseproof_engines::servers::{
    Address, OwnerPid, ProvideOptions, ProviderKind, Selection, SelectionError, keeper_main,
    provide, survey,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long anything here may take.
const BOUND: Duration = Duration::from_secs(60);
/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Runs one ignored test of this binary with its own temporary directory and environment, and
/// returns what it wrote.
fn scenario(name: &str, tmp: &Path, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    for (variable, _) in std::env::vars().filter(|(name, _)| name.starts_with("LEASEPROOF_")) {
        command.env_remove(variable);
    }
    command.env("TMPDIR", tmp).env("LEASEPROOF_SCENARIO", name);
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.concat();
    assert!(output.status.success(), "{name}:\n{text}");
    text
}

/// Whether the ignored test was asked for by [`scenario`], and not by somebody who runs all of them.
fn is_asked_for(name: &str) -> bool {
    std::env::var("LEASEPROOF_SCENARIO").is_ok_and(|asked| asked == name)
}

/// A temporary directory that the unprivileged user of a native server may pass through.
fn open_tempdir() -> tempfile::TempDir {
    let tmp = tempfile::tempdir().unwrap();
    std::fs::set_permissions(tmp.path(), PermissionsExt::from_mode(0o755)).unwrap();
    tmp
}

/// A program that is a keeper: this binary, whose arguments a test runner would not understand.
fn keeper_program(directory: &Path) -> PathBuf {
    let path = directory.join("keeper");
    let binary = std::env::current_exe().unwrap();
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(&path).unwrap();
    write!(
        file,
        "#!/bin/sh\necho $$ > \"$0.pid\"\nshift\nLEASEPROOF_TEST_KEEPER=\"$*\" exec '{}' --exact keeper_process --ignored\n",
        binary.display()
    )
    .unwrap();
    path
}

/// A process that lives until it is killed.
fn owner() -> (Child, OwnerPid) {
    let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let owner = OwnerPid::of(i32::try_from(child.id()).unwrap()).unwrap();
    (child, owner)
}

/// Waits until the condition holds.
fn becomes(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < BOUND, "it never became true that {what}");
        block_on(async {
            tokio::time::interval_at(tokio::time::Instant::now() + LOOK, LOOK).tick().await
        });
    }
}

fn entries(directory: &Path) -> BTreeSet<String> {
    let found = std::fs::read_dir(directory).into_iter().flatten().flatten();
    found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The first directory entry by name that begins so and is no native server's.
fn first_entry(directory: &Path, prefix: &str) -> PathBuf {
    let fits = |name: &String| name.starts_with(prefix) && !name.contains("-native-");
    directory.join(entries(directory).into_iter().find(fits).unwrap())
}

#[tokio::main]
async fn block_on<T>(future: impl Future<Output = T>) -> T {
    future.await
}

#[test]
fn a_selection_names_an_engine_and_a_version() {
    for (text, label, explicit) in [
        ("postgres", "postgres:18", false),
        ("postgres:15", "postgres:15", true),
        ("mysql", "mysql:9.7", false),
        ("mariadb:10.11", "mariadb:10.11", true),
        ("sqlite", "sqlite", false),
    ] {
        let selection = Selection::parse(text).unwrap();
        assert_eq!(selection.label(), label);
        assert_eq!(selection.explicit, explicit, "{text}");
    }
    let linked = Selection::parse("sqlite").unwrap().version;
    assert_eq!(Selection::parse(&format!("sqlite:{linked}")).unwrap().label(), "sqlite");
}

#[test]
fn a_wrong_selection_says_what_would_be_right() {
    let error = Selection::parse("postgers").unwrap_err();
    assert!(
        matches!(&error, SelectionError::UnknownEngine { nearest: Some("postgres"), .. }),
        "{error}"
    );
    let text = Selection::parse("oracle").unwrap_err().to_string();
    assert_eq!(text, "unknown engine `oracle`; known: mariadb, mysql, postgres, sqlite");
    for bad in ["postgres:", "postgres:1/2", "postgres:..", "mysql:9 7", "mariadb:11;8"] {
        let error = Selection::parse(bad).unwrap_err();
        assert!(matches!(error, SelectionError::BadVersion { .. }), "{bad}: {error}");
    }
    let linked = Selection::parse("sqlite").unwrap().version;
    let text = Selection::parse("sqlite:3.1").unwrap_err().to_string();
    assert!(text.contains("`sqlite:3.1`") && text.contains(&linked), "{text}");
}

#[test]
fn a_url_that_cannot_be_used_is_not_replaced_and_not_shown_with_its_password() {
    let tmp = open_tempdir();
    for (variable, url, reason) in [
        ("LEASEPROOF_POSTGRES_URL", "hush not a url", "is not a URL"),
        ("LEASEPROOF_POSTGRES_URL", "postgres:hush@127.0.0.1/x", "has no `//`"),
        ("LEASEPROOF_POSTGRES_URL", "mysql://root:hush@127.0.0.1/", "begins with `mysql:`"),
        (
            "LEASEPROOF_POSTGRES_URL",
            "postgres://me:hush@127.0.0.1:1/x",
            "postgres://me:***@127.0.0.1:1/x",
        ),
        (
            "LEASEPROOF_POSTGRES_18_URL",
            "postgres://me:hush@127.0.0.1:1/x",
            "`LEASEPROOF_POSTGRES_18_URL` names",
        ),
    ] {
        let text = scenario("given_url", tmp.path(), &[(variable, url)]);
        assert!(text.contains(reason), "{url}: {text}");
        assert!(text.contains("url: "), "{text}");
        assert!(!text.contains("native: "), "{text}");
        assert!(!text.contains("hush"), "{text}");
    }
}

#[test]
#[ignore = "a scenario of another test"]
fn given_url() {
    if is_asked_for("given_url") {
        let options = ProvideOptions::new("no-keeper", OwnerPid::current());
        let selection = Selection::parse("postgres").unwrap();
        let missing = block_on(provide(&selection, &options, &|_| {})).unwrap_err();
        let findings = block_on(survey(&selection));
        println!("{missing}\n{missing:?}\n{findings:?}");
        assert_eq!(missing.attempts[0].provider, ProviderKind::Url);
    }
}

#[test]
fn a_survey_asks_every_provider_in_order() {
    let tmp = open_tempdir();
    let text =
        scenario("survey_everything", tmp.path(), &[("DOCKER_HOST", "unix:///nonexistent.sock")]);
    for part in ["`LEASEPROOF_POSTGRES_URL`", "DOCKER_HOST", "installed or not", "is linked in"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert_eq!(entries(tmp.path()), BTreeSet::new());
}

#[test]
#[ignore = "a scenario of another test"]
fn survey_everything() {
    if is_asked_for("survey_everything") {
        let findings = block_on(survey(&Selection::parse("postgres").unwrap()));
        let kinds: Vec<_> = findings.iter().map(|finding| finding.provider).collect();
        assert_eq!(kinds, ProviderKind::ALL[..4]);
        for finding in &findings {
            assert_ne!(finding.usable, finding.remedy.is_some(), "{finding:?}");
            println!("{finding:?}");
        }
        println!("installed or not: {}", findings[3].detail);
        println!("{:?}", block_on(survey(&Selection::parse("sqlite").unwrap())));
    }
}

#[test]
fn a_native_server_is_shared_replaced_when_nobody_keeps_it_and_removed() {
    let tmp = open_tempdir();
    let text = scenario("native_server", tmp.path(), &[]);
    println!("{text}");
    becomes("only the keeper program is left", || {
        entries(tmp.path()).iter().all(|name| ["keeper", "keeper.pid"].contains(&name.as_str()))
    });
}

#[test]
#[ignore = "a scenario of another test"]
fn native_server() {
    if !is_asked_for("native_server") {
        return;
    }
    let versions = ["18", "17", "16", "15", "14", "13"];
    let selections =
        versions.map(|version| Selection::parse(&format!("postgres:{version}")).unwrap());
    let installed = selections.into_iter().find(|selection| {
        let findings = block_on(survey(selection));
        findings.iter().any(|finding| finding.provider == ProviderKind::Native && finding.usable)
    });
    let Some(selection) = installed else {
        println!("skipped: no PostgreSQL is installed");
        return;
    };
    let (mut process, owner) = owner();
    let mut options = ProvideOptions::new(keeper_program(&std::env::temp_dir()), owner);
    options.docker = false;
    let provided = || block_on(provide(&selection, &options, &|step| println!("{step}"))).unwrap();
    let answers = |endpoint| block_on(selection.engine.identify(endpoint)).is_ok();
    let first = provided();
    assert_eq!(first.provider, ProviderKind::Native);
    assert!(answers(&first));
    assert_eq!(provided().address, first.address, "the second process did not share the server");

    let keeper = std::fs::read_to_string(options.keeper.with_extension("pid")).unwrap();
    let keeper: i32 = keeper.trim().parse().unwrap();
    kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
    // It may hold its lock a moment longer than it lives.
    let session = first_entry(&first_entry(&std::env::temp_dir(), "leaseproof-"), "");
    let lock = std::fs::File::open(session.join(format!("{}.lock", selection.label()))).unwrap();
    becomes("the keeper is dead", || lock.try_lock().is_ok());
    drop(lock);
    let second = provided();
    assert_ne!(second.address, first.address, "a server that nobody keeps was handed out");
    assert!(!answers(&first), "the first server still runs");
    assert!(answers(&second));

    process.kill().unwrap();
    process.wait().unwrap();
    becomes("the server is gone", || !answers(&second));
}

#[test]
#[ignore = "the keeper of another test"]
fn keeper_process() {
    if let Ok(arguments) = std::env::var("LEASEPROOF_TEST_KEEPER") {
        let arguments: Vec<_> = arguments.split(' ').map(str::to_owned).collect();
        let _ = keeper_main(&arguments);
    }
}

#[test]
fn what_a_dead_owner_left_is_removed_by_the_next_run() {
    let tmp = open_tempdir();
    let text = scenario("leave_directories", tmp.path(), &[]);
    let left = entries(tmp.path());
    assert_eq!(left.len(), 2, "{left:?}: {text}");
    scenario("provide_embedded", tmp.path(), &[]);
    assert_eq!(entries(tmp.path()), BTreeSet::new());
}

#[test]
#[ignore = "a scenario of another test"]
fn leave_directories() {
    if is_asked_for("leave_directories") {
        let options = ProvideOptions::new("no-keeper", OwnerPid::current());
        let sqlite = Selection::parse("sqlite").unwrap();
        let endpoint = block_on(provide(&sqlite, &options, &|_| {})).unwrap();
        let Address::Directory(path) = &endpoint.address else { panic!("no directory") };
        std::fs::write(path.join("data"), "x").unwrap();
        // As a run that is killed would.
        std::mem::forget(endpoint);
        let mysql = Selection::parse("mysql").unwrap();
        let missing = block_on(provide(&mysql, &options, &|_| {})).unwrap_err();
        assert!(missing.to_string().contains("cannot start `no-keeper`"), "{missing}");
    }
}

#[test]
#[ignore = "a scenario of another test"]
fn provide_embedded() {
    if is_asked_for("provide_embedded") {
        let options = ProvideOptions::new("no-keeper", OwnerPid::current());
        let sqlite = Selection::parse("sqlite").unwrap();
        let endpoint = block_on(provide(&sqlite, &options, &|_| {})).unwrap();
        assert_eq!(endpoint.provider, ProviderKind::Embedded);
        assert!(block_on(sqlite.engine.identify(&endpoint)).is_ok());
    }
}
