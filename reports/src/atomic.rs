//! Files that are there whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// Writes `bytes` to `path`, replacing what was there, so that no reader ever sees a part of them.
///
/// The bytes go to a hidden file beside `path`, reach the disk, and only then take its name. After
/// an error the hidden file is gone and `path` is what it was.
///
/// # Errors
///
/// What the file system said, for example that it is full.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let hidden = hidden_beside(path);
    let written = write_through(&hidden, bytes).and_then(|()| fs::rename(&hidden, path));
    if written.is_err() {
        // The first error is the one to report: that the hidden file stays says nothing new.
        let _ = fs::remove_file(&hidden);
    }
    written?;
    sync_directory(path)
}

/// The name under which `path` is prepared: in the same directory, because a rename is atomic
/// only within a file system.
pub(crate) fn hidden_beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    path.with_file_name(name)
}

/// Makes a rename in the directory of `path` survive a power failure.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match File::open(directory.unwrap_or(Path::new(".")))?.sync_all() {
        // Some network and shared file systems cannot sync a directory. The file itself is on the
        // disk and has its name, which is all that they can promise.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        write(&path, b"first, and longer").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(directory.path()), ["run.json"]);
    }

    #[test]
    fn a_failed_rename_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        fs::create_dir(&path).unwrap();
        write(&path, b"bytes").unwrap_err();
        assert_eq!(names(directory.path()), ["run.json"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        write(&path, b"before").unwrap();
        std::os::unix::fs::symlink("/dev/full", hidden_beside(&path)).unwrap();
        let error = write(&path, b"after").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(names(directory.path()), ["run.json"]);
    }
}
