//! Naming a process so that another one with the same number is not taken for it.

use std::fmt;
use std::str::FromStr;

use nix::unistd::{Pid, getpid, getppid};
use serde::{Deserialize, Serialize};

/// A process: its number, and when it started, because numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: i32,
    /// When it started, in a transaction of the operating system's own.
    pub start: u64,
}

/// The process for whose lifetime servers are kept.
pub type OwnerPid = ProcessId;

impl ProcessId {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        Self::of(getpid().as_raw()).unwrap_or(Self { pid: getpid().as_raw(), start: 0 })
    }

    /// The owner for a test: the test runner where one started this process, so that all test
    /// binaries of a `cargo test` and all processes of a `cargo nextest` share their servers;
    /// otherwise this process.
    #[must_use]
    pub fn for_tests() -> Self {
        let parent = getppid().as_raw();
        let by_runner = std::env::var_os("NEXTEST").is_some()
            || system::name_of(parent).is_some_and(|name| name.starts_with("cargo"));
        by_runner.then(|| Self::of(parent)).flatten().unwrap_or_else(Self::current)
    }

    /// The process that has that number now, if any is alive.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        let start = system::start_of(pid)?;
        Some(Self { pid, start })
    }

    /// Whether it is still alive; a process that has ended and was not yet reaped is not.
    #[must_use]
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    pub(crate) fn raw(self) -> Pid {
        Pid::from_raw(self.pid)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.pid, self.start)
    }
}

impl FromStr for ProcessId {
    type Err = MalformedProcessId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_once(':')
            .and_then(|(pid, start)| {
                let pid = pid.parse().ok().filter(|pid| *pid > 0)?;
                let start = start.parse().ok()?;
                Some(Self { pid, start })
            })
            .ok_or_else(|| MalformedProcessId(text.to_owned()))
    }
}

/// A text that names no process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a process: write it as `PID:START`")]
pub struct MalformedProcessId(String);

/// What the system tells of a process, from its state on: field 3 and those that follow.
pub(in crate::servers) use self::system::fields;

#[cfg(target_os = "linux")]
mod system {
    /// The fields after the name, which may itself hold spaces and brackets.
    pub(in crate::servers) fn fields(pid: i32) -> Option<Vec<String>> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        Some(fields.split_whitespace().map(str::to_owned).collect())
    }

    /// Field 22, in clock ticks since the machine started.
    pub(super) fn start_of(pid: i32) -> Option<u64> {
        let fields = fields(pid)?;
        let ended = matches!(fields.first()?.as_str(), "Z" | "X");
        (!ended).then(|| fields.get(19)?.parse().ok()).flatten()
    }

    pub(super) fn name_of(pid: i32) -> Option<String> {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(name.trim_end().to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::process::{Command, Stdio};

    /// Not here, where there is no `/proc`.
    pub(in crate::servers) fn fields(_: i32) -> Option<Vec<String>> {
        None
    }

    fn ps(pid: i32, column: &str) -> Option<String> {
        let output = Command::new("ps")
            .args(["-o", column, "-p", &pid.to_string()])
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Without /proc, a hash of the start time in the words of `ps` is as good as the time.
    pub(super) fn start_of(pid: i32) -> Option<u64> {
        if ps(pid, "state=")?.starts_with('Z') {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        ps(pid, "lstart=")?.hash(&mut hasher);
        Some(hasher.finish())
    }

    pub(super) fn name_of(pid: i32) -> Option<String> {
        let path = ps(pid, "comm=")?;
        path.rsplit('/').next().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessId;

    #[test]
    fn a_process_is_alive_only_with_its_own_start() {
        let this = ProcessId::current();
        assert!(this.is_alive());
        let former = ProcessId { start: this.start.wrapping_add(1), ..this };
        assert!(!former.is_alive());
        assert_eq!(this.to_string().parse(), Ok(this));
        for bad in ["", "1", "1:", ":1", "0:1", "-1:2", "a:b"] {
            assert!(bad.parse::<ProcessId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_ended_process_that_nobody_reaped_is_not_alive() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        while ProcessId::of(pid).is_some() {
            std::thread::yield_now();
        }
        assert!(child.wait().unwrap().success());
    }
}
