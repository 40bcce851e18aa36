//! Cases that are known to fail: listed with a reason, and never silently.
//!
//! A listed case that is not kept does not fail the run. A listed case that is kept again does, so
//! that the list cannot rot.

use std::path::{Path, PathBuf};

use leaseproof_reports::{Case, EngineRun, Listed, Outcome};
use semver::{Version, VersionReq};
use serde::Deserialize;

/// The list that ships with the suite: what the reference statements cannot keep, and where.
const SHIPPED: &str = include_str!("known-failures.toml");

/// A list of known failures.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFailures {
    /// The entries.
    #[serde(default, rename = "failure")]
    pub entries: Vec<Entry>,
}

/// One entry: every case that it matches is known to fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The engine's name.
    pub engine: String,
    /// The versions, as in `>=11.6.2, <13`; every version without it.
    #[serde(default)]
    pub versions: VersionReq,
    /// The contract, as a pattern over ids.
    pub contract: String,
    /// The variants, as a pattern over their names.
    #[serde(default = "every")]
    pub variant: String,
    /// Why it fails, and what follows from that.
    pub reason: String,
}

fn every() -> String {
    "*".to_owned()
}

/// A list that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnownFailuresError {
    /// The file cannot be read.
    #[error("could not read `{}`", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a list of known failures.
    #[error("`{}` is not a list of known failures: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
}

impl KnownFailures {
    /// The list that ships with the suite.
    ///
    /// # Panics
    /// Never: a test reads the list.
    #[must_use]
    pub fn shipped() -> Self {
        toml::from_str(SHIPPED).expect("a test reads the list that ships with the suite")
    }

    /// Reads a list.
    ///
    /// # Errors
    /// When the file cannot be read, or an entry is wrong.
    pub fn read(path: &Path) -> Result<Self, KnownFailuresError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| KnownFailuresError::Read { path: path.to_owned(), source })?;
        let malformed =
            |reason: String| KnownFailuresError::Malformed { path: path.to_owned(), reason };
        let list: Self = toml::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        for entry in &list.entries {
            entry.check().map_err(malformed)?;
        }
        Ok(list)
    }

    /// The entry that lists a case, if any does. `version` is what the server calls itself.
    #[must_use]
    pub fn entry(
        &self,
        engine: &str,
        version: &str,
        contract: &str,
        variant: &str,
    ) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.lists(engine, version, contract, variant))
    }

    /// Marks every case that is known to fail, and returns the entries that list any case.
    ///
    /// Only a whole run can judge from them which entries have rotted ([`Listed::rotten`]): the cases
    /// that keep an entry true may be in another part.
    pub fn apply(&self, engines: &[EngineRun], cases: &mut [Case]) -> Vec<Listed> {
        let mut found = Vec::new();
        for (number, entry) in (0_u32..).zip(&self.entries) {
            let (mut kept, mut failing) = (Vec::new(), Vec::new());
            for case in cases.iter_mut().filter(|case| entry.matches(case, engines)) {
                match case.outcome {
                    Outcome::Kept => kept.push(case.key()),
                    Outcome::Broken | Outcome::Errored | Outcome::Inconclusive => {
                        failing.push(case.key());
                        case.known = Some(entry.reason.clone());
                    }
                    Outcome::Unsupported | Outcome::Skipped | Outcome::Missing => {}
                }
            }
            if !kept.is_empty() || !failing.is_empty() {
                let (reason, entry) = (entry.reason.clone(), entry.to_string());
                found.push(Listed { number, entry, reason, kept, failing });
            }
        }
        found
    }
}

impl Entry {
    fn check(&self) -> Result<(), String> {
        if !leaseproof_engines::REGISTRY.iter().any(|engine| engine.name() == self.engine) {
            return Err(format!("unknown engine `{}`", self.engine));
        }
        for pattern in [&self.contract, &self.variant] {
            glob::Pattern::new(pattern)
                .map_err(|error| format!("`{pattern}` is not a pattern: {error}"))?;
        }
        let pattern = glob::Pattern::new(&self.contract).map_err(|error| error.to_string())?;
        if !crate::contracts::REGISTRY.iter().any(|contract| pattern.matches(contract.id)) {
            return Err(format!("no contract is called `{}`", self.contract));
        }
        match self.reason.trim().is_empty() {
            true => {
                Err(format!("the entry of `{}` on `{}` has no reason", self.contract, self.engine))
            }
            false => Ok(()),
        }
    }

    fn matches(&self, case: &Case, engines: &[EngineRun]) -> bool {
        let engine = engines.iter().find(|engine| engine.label == case.engine);
        engine.is_some_and(|engine| {
            self.lists(&engine.name, &engine.version, &case.id, &case.variant)
        })
    }

    fn lists(&self, engine: &str, server: &str, contract: &str, variant: &str) -> bool {
        let matches = |pattern: &str, text: &str| {
            glob::Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(text))
        };
        engine == self.engine
            && matches(&self.contract, contract)
            && matches(&self.variant, variant)
            && version(server).is_some_and(|version| self.versions.matches(&version))
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} on {} {} [{}]",
            self.contract, self.engine, self.versions, self.variant
        )
    }
}

/// The numbers at the start of what a server calls its version: `11.8.9-MariaDB-0+deb13u1`.
fn version(text: &str) -> Option<Version> {
    let numbers: String = text
        .chars()
        .take_while(|character| character.is_ascii_digit() || *character == '.')
        .collect();
    let mut parts = numbers.split('.').map(|part| part.parse().ok());
    let mut next = || parts.next().flatten();
    let major = next()?;
    Some(Version::new(major, next().unwrap_or(0), next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_list_is_well_formed() {
        for entry in KnownFailures::shipped().entries {
            entry.check().unwrap();
        }
    }

    #[test]
    fn a_version_is_read_as_servers_write_it() {
        assert_eq!(version("11.8.9-MariaDB-0+deb13u1 from Debian"), Some(Version::new(11, 8, 9)));
        assert_eq!(version("18.6 (Debian 18.6-3)"), Some(Version::new(18, 6, 0)));
        assert_eq!(version("9.7.4-2"), Some(Version::new(9, 7, 4)));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn a_wrong_entry_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("known.toml");
        let refused = |text: &str, words: &str| {
            std::fs::write(&path, text).unwrap();
            let error = KnownFailures::read(&path).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(
            "[[failure]]\nengine = 'oracle'\ncontract = '*'\nreason = 'x'",
            "unknown engine `oracle`",
        );
        refused(
            "[[failure]]\nengine = 'mysql'\ncontract = 'claim/nothing'\nreason = 'x'",
            "no contract is called",
        );
        refused("[[failure]]\nengine = 'mysql'\ncontract = '*'\nreason = ' '", "has no reason");
        refused(
            "[[failure]]\nengine = 'mysql'\nversions = 'new'\ncontract = '*'\nreason = 'x'",
            "version",
        );
        refused("[[failure]]\nengine = 'mysql'\ncontrakt = '*'\nreason = 'x'", "contrakt");
        let absent = KnownFailures::read(&directory.path().join("absent.toml")).unwrap_err();
        assert!(absent.to_string().contains("absent.toml"));
    }
}
