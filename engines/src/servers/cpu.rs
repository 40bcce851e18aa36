//! The processor time that a server on this machine has used.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

use crate::servers::process::ProcessId;

/// The processor time of a process and all that descend from it, ended ones included once they were
/// reaped; `None` when it is gone, or where the system does not show it. In steps of a clock tick,
/// which is 10 ms on most systems.
#[must_use]
pub fn cpu_of_tree(root: ProcessId) -> Option<Duration> {
    if !root.is_alive() {
        return None;
    }
    let ticks_per_s = sysconf(SysconfVar::CLK_TCK).ok()??;
    let processes = processes();
    let mut tree = BTreeSet::from([root.pid]);
    // A child may have a lower number than its parent, so one pass is not enough.
    loop {
        let of_tree = |(_, one): &(&i32, &Process)| tree.contains(&one.parent);
        let children: Vec<i32> = processes.iter().filter(of_tree).map(|(pid, _)| *pid).collect();
        let before = tree.len();
        tree.extend(children);
        if tree.len() == before {
            break;
        }
    }
    let ticks: u64 = tree.iter().filter_map(|pid| processes.get(pid)).map(|one| one.ticks).sum();
    Some(Duration::from_secs_f64(ticks as f64 / ticks_per_s as f64))
}

struct Process {
    parent: i32,
    /// Of its own and of the children that it has reaped, in user mode and in the kernel.
    ticks: u64,
}

/// Every process that the system shows: none where it has no `/proc`.
fn processes() -> BTreeMap<i32, Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, process(pid)?))).collect()
}

/// Fields 4 and 14 to 17 of proc_pid_stat(5).
fn process(pid: i32) -> Option<Process> {
    let fields = super::process::fields(pid)?;
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let ticks = (14..=17).map(number).sum::<Option<u64>>()?;
    Some(Process { parent: fields.get(1)?.parse().ok()?, ticks })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::hint::black_box;
    use std::process::{Command, Stdio};

    use super::*;

    /// Burns more than a few clock ticks.
    const LOOP: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

    #[test]
    fn work_of_a_child_that_was_reaped_counts() {
        let this = ProcessId::current();
        let before = cpu_of_tree(this).unwrap();
        let status = Command::new("sh").args(["-c", LOOP]).status().unwrap();
        assert!(status.success());
        let after = cpu_of_tree(this).unwrap();
        assert!(after - before >= Duration::from_millis(20), "{before:?} to {after:?}");
    }

    #[test]
    fn work_of_a_child_that_lives_counts() {
        let mut child =
            Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        let child = child.as_mut().unwrap();
        let of_child = ProcessId::of(i32::try_from(child.id()).unwrap()).unwrap();
        let this = ProcessId::current();
        while cpu_of_tree(of_child).unwrap() < Duration::from_millis(50) {
            black_box(());
        }
        let (whole, part) = (cpu_of_tree(this).unwrap(), cpu_of_tree(of_child).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(whole + Duration::from_millis(50) >= part, "{whole:?} without {part:?}");
        assert_eq!(cpu_of_tree(of_child), None);
    }
}
