//! Finding a server's programs on `PATH` and in the places where packages put them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::servers::{NativeSpec, version};

/// The programs of one version.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    /// The server.
    pub(crate) server: PathBuf,
    /// What makes its data directory.
    pub(crate) initializer: PathBuf,
    /// What the server says of its version.
    pub(crate) said: String,
}

impl Programs {
    /// Where they are installed: the directory that holds the server's own.
    pub(crate) fn prefix(&self) -> PathBuf {
        let server = self.server.canonicalize().unwrap_or_else(|_| self.server.clone());
        server.ancestors().nth(2).unwrap_or(Path::new("/")).to_owned()
    }
}

/// Finds the programs of the version wanted.
///
/// # Errors
/// When there are none: what was found instead.
pub(crate) fn find(spec: &NativeSpec, wanted: &str) -> Result<Programs, String> {
    let directories = directories(spec.places);
    let mut others: Vec<String> = Vec::new();
    for directory in &directories {
        for server in programs(directory, spec.server) {
            let Some(said) = ask(&server).filter(|said| said.to_lowercase().contains(spec.answers))
            else {
                continue;
            };
            let number = said
                .split_whitespace()
                .skip(1)
                .find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
            // A fork may answer with its own name behind the version of what it forked.
            let foreign = spec.answers == "mysql" && said.to_lowercase().contains("mariadb");
            if foreign {
                continue;
            }
            if !version::matches(wanted, number.unwrap_or_default()) {
                let real = server.canonicalize().unwrap_or(server);
                let other = format!("`{}` is `{said}`", real.display());
                if !others.contains(&other) {
                    others.push(other);
                }
                continue;
            }
            let beside = programs(directory, spec.initializer).into_iter().next();
            let elsewhere = || {
                directories
                    .iter()
                    .find_map(|directory| programs(directory, spec.initializer).into_iter().next())
            };
            return match beside.or_else(elsewhere) {
                Some(initializer) => Ok(Programs { server, initializer, said }),
                None => Err(format!(
                    "`{}` is there, and no `{}`",
                    server.display(),
                    spec.initializer.join("` or `")
                )),
            };
        }
    }
    let names = spec.server.join("` or `");
    if others.is_empty() {
        return Err(format!("no `{names}` on PATH or in the usual places"));
    }
    Err(format!("no `{names}` of version `{wanted}`: {}", others.join(", ")))
}

/// Every directory to look in, `PATH` first, none twice.
fn directories(places: &[&str]) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in
        std::env::split_paths(&path).chain(places.iter().flat_map(|place| expand(place)))
    {
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    directories
}

/// The directories that a place with at most one `*` in one of its names stands for, in order.
fn expand(place: &str) -> Vec<PathBuf> {
    let Some((before, after)) = place.split_once('*') else {
        return vec![PathBuf::from(place)];
    };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let (suffix, rest) = after.split_once('/').unwrap_or((after, ""));
    let mut found: Vec<PathBuf> = std::fs::read_dir(if parent.is_empty() { "/" } else { parent })
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(suffix))
        })
        .map(|entry| entry.path().join(rest))
        .collect();
    found.sort();
    found
}

/// The files of those names that are in the directory, in the order of the names.
fn programs(directory: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| directory.join(name)).filter(|path| path.is_file()).collect()
}

/// The first line of what the program says of its version.
fn ask(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A directory with a program that says what is given.
    fn fake(root: &Path, directory: &str, program: &str, said: &str) {
        let directory = root.join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(program);
        std::fs::write(&path, format!("#!/bin/sh\necho '{said}'\n")).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn spec(places: &'static [&'static str], answers: &'static str) -> NativeSpec {
        NativeSpec {
            places,
            server: &["leaseproof-no-such-server"],
            answers,
            initializer: &["leaseproof-no-such-initializer"],
            initialize: &[],
            serve: &[],
            init_sql: "",
            accounts: &[],
            install: "",
        }
    }

    fn leaked(text: String) -> &'static str {
        Box::leak(text.into_boxed_str())
    }

    #[test]
    fn the_version_wanted_is_found_beside_others() {
        let root = tempfile::tempdir().unwrap();
        for version in ["14", "15"] {
            let said = format!("thing (Thing) {version}.3");
            fake(root.path(), &format!("{version}/bin"), "leaseproof-no-such-server", &said);
            fake(root.path(), &format!("{version}/bin"), "leaseproof-no-such-initializer", "");
        }
        let place = leaked(format!("{}/*/bin", root.path().display()));
        let spec = spec(Box::leak(Box::new([place])), "thing");
        let programs = find(&spec, "15").unwrap();
        assert_eq!(programs.server, root.path().join("15/bin/leaseproof-no-such-server"));
        assert_eq!(programs.initializer, root.path().join("15/bin/leaseproof-no-such-initializer"));
        let reason = find(&spec, "16").unwrap_err();
        assert!(
            reason.contains("`16`") && reason.contains("14.3") && reason.contains("15.3"),
            "{reason}"
        );
    }

    #[test]
    fn a_fork_is_not_taken_for_the_original() {
        let root = tempfile::tempdir().unwrap();
        let said = "mysqld  Ver 11.8.3-MariaDB for debian-linux-gnu";
        fake(root.path(), "bin", "leaseproof-no-such-server", said);
        let place = leaked(format!("{}/bin", root.path().display()));
        let reason = find(&spec(Box::leak(Box::new([place])), "mysql"), "11.8").unwrap_err();
        assert!(reason.starts_with("no `leaseproof-no-such-server` on PATH"), "{reason}");
    }
}
