//! Where the processes of a run and their keepers meet: one directory per owner.
//!
//! `<tmp>/leaseproof-<uid>/<host>.<pid>.<start>/` holds, for each label: `.lock`, which the keeper
//! holds locked for as long as it lives; `.json`, the endpoint; `.failed.json`, why there is none;
//! `.progress`, one step a line; `.log`, what the keeper wrote; `.native.json`, what to stop if the
//! keeper was killed. A file appears whole or not at all, and only its user may read it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::servers::process::ProcessId;
use crate::servers::{Address, Endpoint, ImageInfo, Missing, Progress, ProviderKind};

/// The file by which an owner asks its keepers to end.
const STOP: &str = "stop";

/// The meeting point for one label.
#[derive(Clone, Debug)]
pub(crate) struct Rendezvous {
    directory: PathBuf,
    label: String,
}

/// What the keeper has left to be read.
pub(crate) enum Outcome {
    /// Nothing yet.
    None,
    /// The server, if the keeper still lives.
    Ready(Endpoint),
    /// There is none, and why.
    Failed(Missing),
}

/// An endpoint as it is stored, password included.
#[derive(Serialize, Deserialize)]
struct StoredEndpoint {
    provider: ProviderKind,
    url: Url,
    image: Option<ImageInfo>,
    process: Option<ProcessId>,
}

impl Rendezvous {
    /// The meeting point of that owner's processes, made if it is not there.
    pub(crate) fn open(owner: ProcessId, label: &str) -> io::Result<Self> {
        let root = root();
        let directory = root.join(session_name(owner));
        let make = || private_directory(&root).and_then(|()| private_directory(&directory));
        // Another run that ends now may remove the root while it is empty.
        make().or_else(|_| make())?;
        Ok(Self::at(directory, label))
    }

    /// The meeting point in a directory that is known to be there.
    pub(crate) fn at(directory: PathBuf, label: &str) -> Self {
        let label = label.to_owned();
        Self { directory, label }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The path of one of the label's files.
    pub(crate) fn path(&self, extension: &str) -> PathBuf {
        self.directory.join(format!("{}.{extension}", self.label))
    }

    /// Takes the lock if no keeper holds it; it is free again when the last copy of the file is closed.
    pub(crate) fn try_lock(&self) -> io::Result<Option<File>> {
        try_lock(&self.path("lock"))
    }

    /// Opens the keeper's log, to be written at its end.
    pub(crate) fn log(&self) -> io::Result<File> {
        private_file().append(true).create(true).open(self.path("log"))
    }

    pub(crate) fn outcome(&self) -> io::Result<Outcome> {
        if let Some(missing) = self.load("failed.json")? {
            return Ok(Outcome::Failed(missing));
        }
        let stored: Option<StoredEndpoint> = self.load("json")?;
        Ok(stored.map_or(Outcome::None, |stored| {
            let endpoint = Endpoint::server(stored.provider, stored.url, stored.image);
            Outcome::Ready(endpoint.with_process(stored.process))
        }))
    }

    pub(crate) fn publish(&self, endpoint: &Endpoint) -> io::Result<()> {
        let Address::Server(url) = &endpoint.address else {
            return Err(io::Error::other("an embedded engine needs no keeper"));
        };
        let stored = StoredEndpoint {
            provider: endpoint.provider,
            url: url.clone(),
            image: endpoint.image.clone(),
            process: endpoint.process,
        };
        self.store("json", &stored)
    }

    pub(crate) fn fail(&self, missing: &Missing) -> io::Result<()> {
        self.store("failed.json", missing)
    }

    /// Tells whoever waits of a step. That nobody may hear it is no reason to stop.
    pub(crate) fn tell(&self, message: &str) {
        let line = format!("{}\n", message.replace('\n', " "));
        let _ = private_file()
            .append(true)
            .create(true)
            .open(self.path("progress"))
            .and_then(|mut file| file.write_all(line.as_bytes()));
    }

    /// The steps told since `offset`, in bytes, which is moved past them.
    pub(crate) fn told(&self, offset: &mut u64) -> Vec<Progress> {
        let mut text = String::new();
        let read = File::open(self.path("progress")).and_then(|mut file| {
            file.seek(SeekFrom::Start(*offset))?;
            file.read_to_string(&mut text)
        });
        // Half a line is read again when it is whole.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if read.is_err() || whole == 0 {
            return Vec::new();
        }
        *offset += whole as u64;
        text[..whole]
            .lines()
            .map(|message| Progress { label: self.label.clone(), message: message.to_owned() })
            .collect()
    }

    /// Whether the owner has asked its keepers to end before it does.
    pub(crate) fn is_stopped(&self) -> bool {
        self.directory.join(STOP).exists()
    }

    /// Removes what a keeper before left, but not its lock.
    pub(crate) fn reset(&self) {
        for extension in ["json", "failed.json", "progress", "log", "native.json"] {
            let _ = std::fs::remove_file(self.path(extension));
        }
    }

    /// Removes every file of the label, and the directories if nothing else is in them.
    pub(crate) fn clear(&self) {
        self.reset();
        let _ = std::fs::remove_file(self.path("lock"));
        let _ = std::fs::remove_dir(&self.directory);
        if let Some(root) = self.directory.parent() {
            let _ = std::fs::remove_dir(root);
        }
    }

    pub(crate) fn load<T: DeserializeOwned>(&self, extension: &str) -> io::Result<Option<T>> {
        match std::fs::read(self.path(extension)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn store<T: Serialize>(&self, extension: &str, value: &T) -> io::Result<()> {
        // A temporary file is private to its user, and is removed when it cannot take its name.
        let mut draft = tempfile::NamedTempFile::new_in(&self.directory)?;
        draft.write_all(&serde_json::to_vec_pretty(value)?)?;
        draft.persist(self.path(extension))?;
        Ok(())
    }
}

/// Asks every keeper of that owner to end; whether there is any left is what it returns.
pub(crate) fn stop(owner: ProcessId) -> io::Result<bool> {
    let directory = root().join(session_name(owner));
    let entries = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    let names: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    let kept = names.iter().any(|name| name.to_string_lossy().ends_with(".lock"));
    if kept {
        private_file().write(true).create(true).truncate(true).open(directory.join(STOP))?;
    } else {
        let _ = std::fs::remove_file(directory.join(STOP));
        let _ = std::fs::remove_dir(&directory);
    }
    Ok(kept)
}

/// Takes the lock of a file if nobody holds it.
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = private_file().read(true).write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Where all owners of this user have their directories.
pub(crate) fn root() -> PathBuf {
    std::env::temp_dir().join(format!("leaseproof-{}", nix::unistd::geteuid()))
}

/// The name of an owner's directory. It begins with the host because process numbers mean nothing
/// elsewhere, and a temporary directory may be shared.
pub(crate) fn session_name(owner: ProcessId) -> String {
    format!("{}.{}.{}", host(), owner.pid, owner.start)
}

/// The owner whose directory has that name, if it is one of this host.
pub(crate) fn owner_in(name: &str) -> Option<ProcessId> {
    let rest = name.strip_prefix(&host())?.strip_prefix('.')?;
    let (pid, start) = rest.split_once('.')?;
    format!("{pid}:{start}").parse().ok()
}

/// This host's name, fit for file names and labels.
pub(crate) fn host() -> String {
    let name = nix::unistd::gethostname().unwrap_or_default();
    let fit = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }
    };
    let name: String = name.to_string_lossy().chars().map(fit).collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// A directory that only this user may enter; one that somebody else made is refused, because
/// whoever owns it could put an endpoint of his own there.
fn private_directory(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other(format!("`{}` belongs to somebody else", path.display())));
    }
    if found.permissions().mode() & 0o077 != 0 {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(directory: &tempfile::TempDir) -> Rendezvous {
        Rendezvous::at(directory.path().to_owned(), "postgres:18")
    }

    #[test]
    fn an_endpoint_is_read_as_it_was_published() {
        let directory = tempfile::tempdir().unwrap();
        let place = place(&directory);
        assert!(matches!(place.outcome().unwrap(), Outcome::None));
        let url = Url::parse("postgres://a:secret@127.0.0.1:5/db").unwrap();
        place.publish(&Endpoint::server(ProviderKind::Native, url.clone(), None)).unwrap();
        let Outcome::Ready(endpoint) = place.outcome().unwrap() else { panic!("no endpoint") };
        assert_eq!(endpoint.address, Address::Server(url));
        let mode = std::fs::metadata(place.path("json")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn steps_are_told_once_and_only_when_whole() {
        let directory = tempfile::tempdir().unwrap();
        let place = place(&directory);
        let mut offset = 0;
        assert!(place.told(&mut offset).is_empty());
        place.tell("one");
        place.tell("two\nlines");
        let told: Vec<_> = place.told(&mut offset).into_iter().map(|step| step.message).collect();
        assert_eq!(told, ["one", "two lines"]);
        std::fs::write(place.path("progress"), "one\ntwo lines\nhal").unwrap();
        assert!(place.told(&mut offset).is_empty());
        place.tell("f");
        assert_eq!(place.told(&mut offset)[0].message, "half");
    }

    #[test]
    fn the_lock_is_held_by_one() {
        let directory = tempfile::tempdir().unwrap();
        let place = place(&directory);
        let held = place.try_lock().unwrap();
        assert!(held.is_some());
        assert!(place.try_lock().unwrap().is_none());
        drop(held);
        assert!(place.try_lock().unwrap().is_some());
    }

    #[test]
    fn a_session_is_named_after_its_owner() {
        let owner = ProcessId::current();
        assert_eq!(owner_in(&session_name(owner)), Some(owner));
        assert_eq!(owner_in("elsewhere.example.1.2"), None);
    }
}
