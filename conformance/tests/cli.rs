//! The command line as its users meet it: exit codes, messages, and what is left behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A command line in a directory of its own, without any server's URL from the environment.
struct Program {
    directory: TempDir,
    variables: Vec<(String, String)>,
}

impl Program {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leaseproof"));
        command.args(arguments).current_dir(self.directory.path());
        for engine in leaseproof_engines::REGISTRY {
            if let Some(server) = engine.server() {
                command.env_remove(server.url_variable);
            }
        }
        command.envs(self.variables.iter().cloned());
        command
    }

    fn run(&self, arguments: &[&str]) -> Seen {
        Seen::of(&self.command(arguments).output().unwrap())
    }

    /// The directory of the newest run.
    fn latest(&self) -> PathBuf {
        self.directory.path().join("reports/latest")
    }
}

struct Seen {
    code: i32,
    out: String,
    err: String,
}

impl Seen {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// What the user reads, with the diagnostics' line breaks and borders undone.
    fn all(&self) -> String {
        let text = format!("{}\n{}", self.out, self.err).replace('│', " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn ends(self, code: i32, saying: &[&str]) -> Self {
        let all = self.all();
        assert_eq!(self.code, code, "{all}");
        for words in saying {
            assert!(all.contains(words), "`{words}` is not said in: {all}");
        }
        assert!(!all.contains("panicked"), "{all}");
        self
    }
}

#[test]
fn help_and_version_end_well() {
    let program = Program::new();
    program
        .run(&["--help"])
        .ends(0, &["run", "list", "doctor", "selftest", "replay", "Exit codes"]);
    program.run(&["--version"]).ends(0, &["leaseproof 0."]);
    program
        .run(&["run", "--help"])
        .ends(0, &["--engine", "--contract", "--level", "--seed", "--repeat", "--out"]);
}

#[test]
fn an_unknown_engine_is_a_usage_error() {
    let program = Program::new();
    program
        .run(&["run", "--engine", "postgre"])
        .ends(2, &["unknown engine `postgre`", "did you mean `postgres`", "sqlite"]);
    program
        .run(&["run", "--engine", "sqlite:3.1"])
        .ends(2, &["`sqlite:3.1`", "is linked into this program"]);
    program.run(&["run", "--engine", "postgres:1 8;x"]).ends(2, &["unknown engine `8;x`"]);
    program
        .run(&["run", "--engine", "postgres:/"])
        .ends(2, &["`/` is not a version of `postgres`"]);
}

#[test]
fn an_unknown_contract_selects_nothing() {
    let program = Program::new();
    program.run(&["run", "--engine", "sqlite", "--contract", "renew/never-shorten"]).ends(
        4,
        &["no contract is called `renew/never-shorten`", "did you mean `renew/never-shortens`"],
    );
    program
        .run(&["run", "--engine", "sqlite", "--contract", "["])
        .ends(2, &["`[` is not a pattern"]);
    program
        .run(&["run", "--engine", "sqlite", "--level", "hard"])
        .ends(2, &["core", "extended", "provisional"]);
}

#[test]
fn wrong_flags_are_usage_errors() {
    let program = Program::new();
    program.run(&["run", "--egnine", "sqlite"]).ends(2, &["--egnine", "--engine"]);
    program.run(&["run", "--repeat", "0"]).ends(2, &["--repeat"]);
    program.run(&["run", "--seed", "-1"]).ends(2, &["--seed"]);
    program.run(&["run", "--seed", "9007199254740992"]).ends(2, &["--seed"]);
    program.run(&["frobnicate"]).ends(2, &["frobnicate"]);
}

#[test]
fn a_run_on_sqlite_writes_its_reports_and_can_be_replayed() {
    let program = Program::new();
    let contract = "renew/extends-current-owner";
    let arguments = ["run", "--engine", "sqlite", "--contract", contract, "--seed", "7"];
    program.run(&arguments).ends(0, &[contract, "kept", "sqlite"]);
    for file in ["run.json", "summary.md", "junit.xml"] {
        assert!(program.latest().join(file).is_file(), "{file} is missing");
    }
    let run = leaseproof_reports::RunDir::load(program.latest()).unwrap();
    assert_eq!(run.seed, 7);
    assert_eq!(run.cases.len(), 1);
    assert_eq!(run.engines[0].durability["journal_mode"], "wal");
    let case = run.cases[0].key();
    program.run(&["replay", "latest", &case]).ends(
        0,
        &[
            "with seed 7: kept",
            "A: claim EVENT-81 with A-1-00000007 at 100min until 150min → took effect",
            "in the earlier run: kept",
        ],
    );
    program
        .run(&["replay", "latest", "renew/nothing"])
        .ends(2, &["no case `renew/nothing`", &case]);
    program.run(&["replay", "absent", &case]).ends(110, &["the run cannot be read"]);
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().filter_map(Result::ok);
    let mine = format!("leaseproof_{}_", std::process::id());
    assert!(
        !left.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(&mine))
    );
}

#[test]
fn a_seed_repeats_what_chance_decided() {
    let program = Program::new();
    let chosen = |out: &str| {
        let contract =
            ["run", "--engine", "sqlite", "--contract", "claim/*", "--seed", "11", "--out", out];
        program.run(&contract).ends(0, &[]);
        let run =
            leaseproof_reports::RunDir::load(program.directory.path().join(out).join("latest"))
                .unwrap();
        run.cases.into_iter().map(|case| (case.key(), case.seed, case.outcome)).collect::<Vec<_>>()
    };
    assert_eq!(chosen("one"), chosen("two"));
}

#[test]
fn results_that_cannot_be_written_are_said_before_anything_runs() {
    let program = Program::new();
    std::fs::write(program.directory.path().join("file"), "mine").unwrap();
    let seen = program.run(&["run", "--engine", "sqlite", "--out", "file/below"]);
    seen.ends(110, &["the results cannot be written", "file/below", "--out"]);
    let kept = std::fs::read_to_string(program.directory.path().join("file")).unwrap();
    assert_eq!(kept, "mine");
}

#[test]
fn what_is_there_is_not_replaced() {
    let program = Program::new();
    let reports = program.directory.path().join("reports");
    std::fs::create_dir_all(reports.join("latest")).unwrap();
    let arguments = ["run", "--engine", "sqlite", "--contract", "renew/extends-current-owner"];
    program.run(&arguments).ends(110, &["latest"]);
    assert!(reports.join("latest").is_dir());
}

#[test]
fn a_server_that_does_not_answer_is_missing_and_its_password_is_not_shown() {
    let url = "postgres://user:s3cretw0rd@127.0.0.1:1/postgres";
    let program = Program::new().with("LEASEPROOF_POSTGRES_URL", url);
    let seen = program.run(&[
        "run",
        "--engine",
        "postgres",
        "--engine",
        "sqlite",
        "--contract",
        "renew/extends*",
    ]);
    let seen = seen.ends(96, &["postgres", "missing", "LEASEPROOF_POSTGRES_URL", "127.0.0.1:1"]);
    assert!(!seen.all().contains("s3cretw0rd"));
    assert_no_secret(&program.latest(), "s3cretw0rd");
    let doctor = program.run(&["doctor", "--engine", "postgres"]);
    assert!(!doctor.all().contains("s3cretw0rd"));
}

#[test]
fn a_url_of_another_engine_is_refused() {
    let program = Program::new().with("LEASEPROOF_MYSQL_URL", "postgres://root@127.0.0.1:1/x");
    program.run(&["run", "--engine", "mysql"]).ends(96, &["mysql", "LEASEPROOF_MYSQL_URL"]);
    let program = Program::new().with("LEASEPROOF_MYSQL_URL", "not a url");
    program.run(&["run", "--engine", "mysql"]).ends(96, &["mysql", "LEASEPROOF_MYSQL_URL"]);
}

#[test]
fn a_version_that_nobody_has_is_missing_with_every_reason() {
    let program = Program::new();
    program
        .run(&["run", "--engine", "mysql:5.1"])
        .ends(96, &["mysql:5.1", "missing", "container", "native", "LEASEPROOF_MYSQL"]);
}

fn assert_no_secret(directory: &Path, secret: &str) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains(secret), "{} shows the password", path.display());
        }
    }
}

#[test]
fn a_server_given_by_url_must_run_even_when_no_engine_is_named() {
    let url = "postgres://user:s3cretw0rd@127.0.0.1:1/postgres";
    let program = Program::new()
        .with("LEASEPROOF_POSTGRES_URL", url)
        .with("DOCKER_HOST", "unix:///nonexistent");
    program.run(&["run", "--contract", "renew/extends*"]).ends(96, &["postgres", "sqlite", "kept"]);
    let doctor = program.run(&["doctor", "--engine", "postgres"]).ends(96, &["cannot be provided"]);
    assert!(
        !doctor.all().contains("local-image"),
        "no other provider stands in for a given server"
    );
}

#[test]
fn an_empty_run_leaves_the_latest_as_it_was() {
    let program = Program::new();
    let contract = "renew/extends-current-owner";
    program.run(&["run", "--engine", "sqlite", "--contract", contract]).ends(0, &[]);
    let before = std::fs::read_link(program.latest()).unwrap();
    let nowhere = Program {
        directory: program.directory,
        variables: vec![("LEASEPROOF_MYSQL_URL".to_owned(), "mysql://127.0.0.1:1".to_owned())],
    };
    nowhere.run(&["run", "--engine", "mysql", "--contract", contract]).ends(96, &[]);
    assert_eq!(std::fs::read_link(nowhere.latest()).unwrap(), before);
}

#[test]
fn a_tag_without_a_number_and_an_empty_name_are_no_selection() {
    let program = Program::new();
    for tag in ["postgres:latest", "postgres:foo"] {
        // Whatever server answered to it, its results would stand under a name that says nothing.
        program.run(&["run", "--engine", tag]).ends(2, &["is not a version of `postgres`"]);
    }
    program.run(&["run", "--engine", ""]).ends(2, &["unknown engine ``", "sqlite"]);
    program.run(&["doctor", "--engine", " "]).ends(2, &["unknown engine ``"]);
}

#[test]
fn a_bench_of_nothing_leaves_the_latest_as_it_was() {
    let program = Program::new();
    program.run(&["run", "--engine", "sqlite", "--contract", "ack/accepts-*"]).ends(0, &["kept"]);
    let before = std::fs::read_link(program.latest()).unwrap();
    program
        .run(&["bench", "--engine", "sqlite", "--scenario", "skip-probe"])
        .ends(4, &["No scenario that was chosen applies"]);
    assert_eq!(std::fs::read_link(program.latest()).unwrap(), before);
}
