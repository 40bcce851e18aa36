//! What a pipeline does with runs: split them over jobs, and act on the exit code.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use leaseproof_reports::{Run, RunDir};
use tempfile::TempDir;

/// A directory in which the program runs, without any server's URL from the environment.
struct Pipeline(TempDir);

impl Pipeline {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.0.path());
        for engine in leaseproof_engines::REGISTRY {
            if let Some(server) = engine.server() {
                command.env_remove(server.url_variable);
            }
        }
        command
    }

    /// Runs the program with the words of `line`, and asserts how it ends and what it says.
    #[track_caller]
    fn ends(&self, line: &str, code: i32, saying: &[&str]) -> String {
        let mut command = self.command(env!("CARGO_BIN_EXE_leaseproof"));
        ended(&command.args(line.split_whitespace()).output().unwrap(), code, saying)
    }

    /// The newest run under a directory of reports.
    fn run(&self, out: &str) -> Run {
        RunDir::load(self.path(out).join("latest")).unwrap()
    }
}

#[track_caller]
fn ended(output: &Output, code: i32, saying: &[&str]) -> String {
    let bytes = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(bytes).unwrap().replace('│', " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(code), "{text}");
    for words in saying {
        assert!(text.contains(words), "`{words}` is not said in: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// A few contracts of several variants, so that a run takes little time.
const RUN: &str = "run --engine sqlite --contract renew/* --seed 7";

#[test]
fn shards_have_every_case_once() {
    let pipeline = Pipeline::new();
    pipeline.ends(&format!("{RUN} --out whole"), 0, &[]);
    let whole = pipeline.run("whole");
    assert_eq!(whole.shard, None);
    let mut keys = Vec::new();
    for index in 1..=3 {
        let name = format!("shard-{index}");
        pipeline.ends(
            &format!("{RUN} --shard {index}/3 --out {name}"),
            0,
            &[&format!("shard {index} of 3, 1 engine")],
        );
        let run = pipeline.run(&name);
        let shard = run.shard.as_ref().unwrap();
        assert_eq!((shard.index, shard.count), (index, 3));
        assert_eq!(shard.total as usize, whole.cases.len());
        assert_eq!(shard.planned as usize, run.cases.len());
        for (place, case) in shard.cases.iter().zip(&run.cases) {
            assert_eq!(whole.cases[*place as usize].key(), case.key());
        }
        keys.extend(run.cases.iter().map(leaseproof_reports::Case::key));
    }
    keys.sort();
    let mut all: Vec<_> = whole.cases.iter().map(leaseproof_reports::Case::key).collect();
    all.sort();
    assert_eq!(keys, all);
}

#[test]
fn a_shard_without_cases_selects_nothing() {
    let pipeline = Pipeline::new();
    let one = "run --engine sqlite --contract renew/rejects-done";
    // Where nobody gives a seed, shards have the same all the same.
    pipeline.ends(&format!("{one} --shard 1/4 --repeat 3"), 0, &["seed 0", "shard 1/4"]);
    let run = pipeline.run("reports");
    assert_eq!(run.cases[0].repeats.values().sum::<u32>(), 3);
    assert_eq!(run.cases.len(), run.shard.unwrap().cases.len());
    let words = ["shard 4/4 has no case: the whole run has 1", "no more shards than it has cases"];
    pipeline.ends(&format!("{one} --shard 4/4 --out empty"), 4, &words);
    assert!(!pipeline.path("empty").exists());
    pipeline.ends(&format!("{one} --shard 5/4"), 2, &["a shard is `K/N`"]);
}
