//! Documents that are generated, or quote what the program prints, are current.

use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// `LEASEPROOF_BLESS=1 cargo test --test documents` writes it anew.
#[test]
fn the_catalogue_is_current() {
    let current = leaseproof_conformance::document::catalogue();
    let file = path("CONTRACTS.md");
    if std::env::var_os("LEASEPROOF_BLESS").is_some() {
        std::fs::write(&file, &current).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == current,
        "CONTRACTS.md is out of date; run this test with LEASEPROOF_BLESS=1"
    );
}

/// The README and every page under `docs/`, but for the decisions.
fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(path("docs")).unwrap();
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.push(path("README.md"));
    pages.sort();
    pages
}

/// Every exit code of the program is explained, and no other.
#[test]
fn the_exit_codes_are_the_programs() {
    let code = |line: &str, from: fn(&str) -> Option<&str>| {
        from(line).and_then(|word| word.trim().parse::<u8>().ok())
    };
    let page = std::fs::read_to_string(path("docs/exit-codes.md")).unwrap();
    let explained: Vec<u8> = page
        .lines()
        .filter_map(|line| code(line, |line| line.strip_prefix("| ")?.split('|').next()))
        .collect();
    let help = leaseproof_conformance::exit_code::Exit::HELP;
    let known: Vec<u8> = help.lines().filter_map(|line| code(line, |line| line.get(..5))).collect();
    assert_eq!(explained, known);
}

/// A link to a file of the project leads to one.
#[test]
fn the_links_lead_somewhere() {
    let mut pages = pages();
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions/README.md"];
    pages.extend(others.map(path));
    let mut links = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let target = page.parent().unwrap().join(link);
            assert!(target.exists(), "{} links to {link}, which is not there", page.display());
            links += 1;
        }
    }
    assert!(links >= 20, "only {links} links were found");
}

/// Every command that a page tells a reader to type exists.
#[test]
fn the_commands_of_the_pages_exist() {
    let read = |page: PathBuf| std::fs::read_to_string(page).unwrap();
    let readme = pages().into_iter().map(read).collect::<Vec<_>>().join("\n");
    let makefile = std::fs::read_to_string(path("Makefile")).unwrap();
    let mut commands = 0;
    for line in readme.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["make", target, ..] => {
                assert!(makefile.contains(&format!("\n{target}:")), "no target in: {line}");
                commands += 1;
            }
            ["leaseproof", command, ..] => {
                let output = std::process::Command::new(env!("CARGO_BIN_EXE_leaseproof"))
                    .args([command, "--help"])
                    .output()
                    .unwrap();
                assert!(output.status.success(), "no such command: {line}");
                commands += 1;
            }
            _ => {}
        }
    }
    assert!(commands >= 15, "only {commands} commands were found");
}
