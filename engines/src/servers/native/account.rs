//! The unprivileged user that a server runs as when this process is root: servers refuse to be root.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::unistd::{Uid, User, chown, geteuid};

/// Another user to run as; `None` where this process is itself unprivileged.
pub(crate) struct Account(Option<User>);

impl Account {
    /// The first of the names that exists, where this process is root.
    pub(crate) fn choose(names: &[&str]) -> io::Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self(None));
        }
        for name in names {
            let found = User::from_name(name)?;
            if let Some(user) = found.filter(|user| user.uid != Uid::from_raw(0)) {
                return Ok(Self(Some(user)));
            }
        }
        Err(io::Error::other(format!("none of the users `{}` exists", names.join("`, `"))))
    }

    /// Gives a file or directory to the user.
    pub(crate) fn own(&self, path: &Path) -> io::Result<()> {
        let Some(user) = &self.0 else { return Ok(()) };
        Ok(chown(path, Some(user.uid), Some(user.gid))?)
    }

    /// Makes the command run as the user, in a process group of its own.
    pub(crate) fn enter(&self, command: &mut Command) {
        command.process_group(0);
        if let Some(user) = &self.0 {
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
    }
}
