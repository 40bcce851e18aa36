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

/// Every command that the README tells a reader to type exists.
#[test]
fn the_commands_of_the_readme_exist() {
    let readme = std::fs::read_to_string(path("README.md")).unwrap();
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
    assert!(commands >= 4, "only {commands} commands were found in the README");
}
