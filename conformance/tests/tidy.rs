//! The house rules that a machine can hold: file length, registration, order, words.

use std::fs;
use std::path::{Path, PathBuf};

use leaseproof_conformance::contract::Contract;
use leaseproof_conformance::contracts::{FAMILIES, REGISTRY};

/// No hand-written file is longer.
const FILE_LINES: usize = 400;
/// One word per idea: the left is said as the right.
const WORDS: [(&str, &str); 6] = [
    ("dequeue", "claim"),
    ("heartbeat_", "renew"),
    ("nack", "release"),
    ("utils", "a name for what it does"),
    ("TODO", "an issue"),
    ("FIXME", "an issue"),
];

fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("the package is inside the workspace").to_owned()
}

/// Every hand-written Rust file of the workspace.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["benches", "conformance", "engines", "reports"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 50, "the walk found only {} files", found.len());
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn assert_none(rule: &str, offenders: Vec<String>) {
    assert!(offenders.is_empty(), "{rule}:\n{}", offenders.join("\n"));
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut offenders = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        if lines > FILE_LINES {
            offenders.push(format!("{} has {lines} lines", shown(&path)));
        }
        if !text.starts_with("//!") {
            offenders.push(format!("{} does not begin with its purpose (`//!`)", shown(&path)));
        }
    }
    assert_none("a file is too long or does not say what it is", offenders);
}

/// Whether a word of the line begins with this one; `unacked` does not say `nack`.
fn says(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(char::is_alphanumeric))
}

#[test]
fn one_word_per_idea() {
    let mut offenders = Vec::new();
    for path in sources() {
        if path.ends_with("tidy.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            for (word, instead) in WORDS {
                if says(line, word) {
                    offenders.push(format!(
                        "{}:{} says `{word}`; say {instead}",
                        shown(&path),
                        number + 1
                    ));
                }
            }
        }
    }
    assert_none("a word that means what another one means already", offenders);
}

/// The names of a registry file's `pub mod` lines, in the order in which they stand.
fn modules(registry: &Path) -> Vec<String> {
    let text = fs::read_to_string(registry).unwrap();
    let name = |line: &str| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned());
    text.lines().filter_map(name).collect()
}

/// The names inside the registering macro's call.
fn listed(registry: &Path, call: &str) -> Vec<String> {
    let text = fs::read_to_string(registry).unwrap();
    let start = text.find(&format!("\n{call} {{\n")).unwrap() + call.len() + 4;
    let end = start + text[start..].find("\n}").unwrap();
    text[start..end].lines().map(|line| line.trim().trim_end_matches(',').to_owned()).collect()
}

fn assert_sorted(what: &str, names: &[String]) {
    assert!(names.is_sorted(), "{what} is not sorted: {names:?}");
}

/// A contract file that nobody registered would silently never run.
#[test]
fn every_contract_file_is_registered() {
    let folder = root().join("conformance/src/contracts");
    let families: Vec<String> = FAMILIES.iter().map(|(family, _)| (*family).to_owned()).collect();
    assert_eq!(unregistered(&folder, &families), Vec::<String>::new());
    assert_sorted("the list of families", &families);
    for (family, files) in FAMILIES {
        let folder = folder.join(family);
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        assert_eq!(unregistered(&folder, &files), Vec::<String>::new());
        assert_eq!(modules(&folder.join("mod.rs")), files);
        assert_sorted("the list of contracts", &files);
    }
}

/// The files of a folder that are not in the list.
fn unregistered(folder: &Path, listed: &[String]) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let stems = entries
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
    stems.filter(|stem| stem != "mod" && !listed.contains(stem)).collect()
}

#[test]
fn an_unregistered_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("is_exclusive.rs"), "").unwrap();
    fs::write(folder.path().join("forgotten.rs"), "").unwrap();
    let found = unregistered(folder.path(), &["is_exclusive".to_owned()]);
    assert_eq!(found, ["forgotten"]);
}

/// An engine file defines `ENGINE`; one that is not in the list would silently never be tested.
#[test]
fn every_engine_file_is_registered() {
    let folder = root().join("engines/src");
    let listed = listed(&folder.join("lib.rs"), "engines!");
    assert_sorted("the list of engines", &listed);
    let mut defining = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let is_engine =
            path.is_file() && fs::read_to_string(&path).unwrap().contains("pub static ENGINE:");
        if is_engine {
            defining.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    defining.sort();
    assert_eq!(defining, listed);
    let names: Vec<&str> =
        leaseproof_engines::REGISTRY.iter().map(|engine| engine.name()).collect();
    assert_eq!(names, listed);
}

/// Every registered contract with its file, relative to the folder of contracts.
fn contract_files() -> Vec<(&'static Contract, PathBuf)> {
    let files = FAMILIES.iter().flat_map(|(family, files)| {
        files.iter().map(move |file| Path::new(family).join(file).with_extension("rs"))
    });
    REGISTRY.iter().copied().zip(files).collect()
}

/// `claim/is_exclusive.rs` holds `claim/is-exclusive`, and its promise is written down.
#[test]
fn a_contract_is_named_after_its_file() {
    for (contract, file) in contract_files() {
        let file = file.with_extension("").to_str().unwrap().replace('_', "-");
        assert_eq!(contract.id, file);
        assert!(!contract.controls.is_empty(), "`{}` has no control", contract.id);
        for part in ["# Promise", "# Steps", "# How a violation looks", "# Source"] {
            assert!(contract.doc.contains(part), "the doc of `{}` has no `{part}`", contract.id);
        }
    }
}

/// No contract names an engine: it asks for capabilities.
#[test]
fn no_contract_names_an_engine() {
    let mut offenders = Vec::new();
    for (_, file) in contract_files() {
        let path = root().join("conformance/src/contracts").join(file);
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            if leaseproof_engines::REGISTRY
                .iter()
                .any(|engine| line.contains(&format!("\"{}\"", engine.name())))
            {
                offenders.push(format!("{}: {line}", shown(&path)));
            }
        }
    }
    assert_none("a contract names an engine", offenders);
}

/// What a statement is called and how it is written is the engines' affair.
#[test]
fn no_contract_and_no_control_holds_sql() {
    let words =
        ["SELECT ", "UPDATE ", "INSERT ", "DELETE ", "BEGIN;", "lease_until", "claim_token"];
    let mut offenders = Vec::new();
    for path in sources() {
        if !path.starts_with(root().join("conformance/src/contracts")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            if words.iter().any(|word| line.contains(word)) {
                offenders.push(format!("{}: {}", shown(&path), line.trim()));
            }
        }
    }
    assert_none("a contract or a control holds SQL", offenders);
}

/// A verdict follows from data: no contract and no checker looks into a text that was made for people.
#[test]
fn no_verdict_looks_into_words() {
    let mut offenders = Vec::new();
    for path in sources() {
        let judged = [
            "conformance/src/contracts",
            "conformance/src/checker",
            "conformance/src/run/runner.rs",
            "conformance/src/run/suite.rs",
        ];
        if !judged.iter().any(|room| path.starts_with(root().join(room))) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let looks = [".starts_with(\"", ".ends_with(\"", ".contains(\"", ".find(\""];
            let of_statements = line.contains("schema.contains");
            if looks.iter().any(|look| line.contains(look)) && !of_statements {
                offenders.push(format!("{}:{}: {}", shown(&path), number + 1, line.trim()));
            }
        }
    }
    assert_none("a verdict looks into words", offenders);
}

/// What commands share is in the rooms of the library, or in a file that is no command.
#[test]
fn no_command_imports_another() {
    let folder = root().join("conformance/src/cli");
    let registry = fs::read_to_string(folder.join("mod.rs")).unwrap();
    let command =
        |line: &str| Some(line.trim().split_once("::Arguments)")?.0.split_once('(')?.1.to_owned());
    let commands: Vec<String> = registry.lines().filter_map(command).collect();
    assert!(commands.len() > 10, "only {commands:?} were found");
    let mut offenders = Vec::new();
    for path in
        sources().iter().filter(|path| path.parent() == Some(&folder) && !path.ends_with("mod.rs"))
    {
        let text = fs::read_to_string(path).unwrap();
        for command in &commands {
            let named = [format!("super::{command}::"), format!("crate::cli::{command}::")];
            if named.iter().any(|name| text.contains(name)) {
                offenders.push(format!("{} imports the command `{command}`", shown(path)));
            }
        }
    }
    assert_none("a command is built on another", offenders);
}

/// Versions of dependencies are in the workspace's manifest only, sorted.
#[test]
fn dependencies_are_sorted_and_versioned_once() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let start = manifest.find("[workspace.dependencies]").unwrap();
    let section: Vec<&str> =
        manifest[start..].lines().skip(1).take_while(|line| !line.starts_with('[')).collect();
    let names: Vec<String> = section
        .iter()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once(" =")?.0.to_owned()))
        .collect();
    assert_sorted("the workspace's dependencies", &names);
    for member in ["benches", "conformance", "engines", "reports"] {
        let text = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        let versioned = text.lines().find(|line| line.contains("version = \""));
        assert_eq!(versioned, None, "{member}/Cargo.toml has a version of its own");
    }
}
