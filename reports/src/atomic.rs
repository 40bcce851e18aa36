//! Files that are there whole or not at all.

use std::{
    fs::{File, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use tempfile::Builder;

/// Writes `bytes` to `path`, replacing what was there, so that no reader ever sees a part of them.
///
/// The bytes go to a hidden file beside `path`, reach the disk, and only then take its name. After
/// an error the hidden file is gone and `path` is what it was.
///
/// # Errors
///
/// What the file system said, for example that it is full.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |file| file.write_all(bytes))
}

/// Makes `path` a link to `target`, replacing the link that was there, so that there is always one.
///
/// # Errors
///
/// What the file system said.
pub(crate) fn link(path: &Path, target: &Path) -> io::Result<()> {
    let hidden = hidden().make_in(directory(path), |hidden| symlink(target, hidden))?;
    hidden.persist(path)?;
    sync_directory(path)
}

fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    // Whoever may read other new files may read this one: a temporary file is private otherwise.
    let mut file =
        hidden().permissions(Permissions::from_mode(0o666)).tempfile_in(directory(path))?;
    fill(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_directory(path)
}

fn hidden() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".leaseproof-").suffix(".tmp");
    builder
}

/// Where `path` is prepared: beside it, because a rename is atomic only within a file system.
fn directory(path: &Path) -> &Path {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    directory.unwrap_or(Path::new("."))
}

/// Makes a rename in the directory of `path` survive a power failure.
fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(directory(path))?.sync_all() {
        // Some network and shared file systems cannot sync a directory. The file itself is on the
        // disk and has its name, which is all that they can promise.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, fs};

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

    #[test]
    fn a_file_may_be_read_by_whoever_may_read_other_new_files() {
        let directory = tempfile::tempdir().unwrap();
        let [path, other] = ["run.json", "other"].map(|name| directory.path().join(name));
        write(&path, b"bytes").unwrap();
        fs::write(&other, b"bytes").unwrap();
        let [mode, usual] = [path, other].map(|path| fs::metadata(path).unwrap().permissions());
        assert_eq!(mode, usual);
    }

    #[test]
    fn a_link_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("latest");
        for target in ["first", "second"] {
            link(&path, Path::new(target)).unwrap();
            assert_eq!(fs::read_link(&path).unwrap(), Path::new(target));
        }
        assert_eq!(names(directory.path()), ["latest"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        write(&path, b"before").unwrap();
        let error = replace(&path, |file| {
            file.write_all(b"aft")?;
            File::options().write(true).open("/dev/full")?.write_all(b"er")
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(names(directory.path()), ["run.json"]);
    }
}
