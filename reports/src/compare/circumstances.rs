//! Under which circumstances two runs were measured: where those differ, times say nothing of the engine,
//! and where it was set up differently nothing does.

use super::engines::differences;
use crate::bench::{BenchRun, SEVERAL};

/// Why the clients of both runs were not the same, which decides how fast anything seems.
pub(super) fn clients(base: &BenchRun, head: &BenchRun) -> Option<String> {
    let mut changes = Vec::new();
    let facts = [
        ("client", &base.tool.version, &head.tool.version),
        ("processor", &base.conditions.cpu, &head.conditions.cpu),
        ("kernel", &base.host.kernel, &head.host.kernel),
        ("file system", &base.conditions.file_system, &head.conditions.file_system),
    ];
    for (name, before, after) in facts {
        if before != after {
            changes.push(format!("{name} {before} → {after}"));
        } else if before.is_empty() || before.contains(SEVERAL) {
            return Some(format!("the {name} is not known to be the same in both runs"));
        }
    }
    if base.host.cpus != head.host.cpus {
        changes.push(format!("CPUs {} → {}", base.host.cpus, head.host.cpus));
    }
    (!changes.is_empty()).then(|| format!("the runs differ: {}", changes.join(", ")))
}

/// Why the servers of an engine did not run in the same way, which decides how fast they are.
pub(super) fn providers(
    base: &BenchRun,
    head: &BenchRun,
    [before, name]: [&str; 2],
) -> Option<String> {
    let (before, after) = (&base.engine(before)?.provider, &head.engine(name)?.provider);
    (before != after).then(|| format!("{name} comes from elsewhere: {before} → {after}"))
}

/// Why an engine was not set up the same in both runs.
pub(super) fn setup(
    base: &BenchRun,
    head: &BenchRun,
    [before, name]: [&str; 2],
    notes: &mut Vec<String>,
) -> Option<String> {
    let (before, after) = (base.engine(before)?, head.engine(name)?);
    if before.version != after.version {
        notes.push(format!("{name} differs: version {} → {}", before.version, after.version));
    }
    let mut changes = differences(&before.durability, &after.durability);
    changes.extend(differences(&before.settings, &after.settings));
    if before.isolation != after.isolation {
        changes.push(format!("isolation {} → {}", before.isolation, after.isolation));
    }
    (!changes.is_empty()).then(|| format!("{name} is set up differently: {}", changes.join(", ")))
}
