//! What the machine can do while it is measured, without which no number means anything.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use leaseproof_reports::bench::Conditions;

/// How long syncing is tried.
const SYNCING: Duration = Duration::from_millis(500);

/// Looks at the machine; `scratch` is a directory in which a file may be written.
#[must_use]
pub fn look(scratch: &Path) -> Conditions {
    Conditions {
        cpu: cpu(),
        file_system: file_system(scratch),
        fsyncs_per_s: fsyncs_per_s(scratch).ok(),
        load_before: load(),
        load_after: None,
    }
}

/// The load average over one minute, where the system tells.
#[must_use]
pub fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    line.and_then(|line| line.split_once(':'))
        .map_or_else(String::new, |(_, name)| name.trim().into())
}

/// The type of the file system that is mounted nearest above the path.
fn file_system(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (_, place, kind) = (words.next()?, words.next()?, words.next()?);
        path.starts_with(place).then(|| (place.len(), kind.to_owned()))
    });
    mounts.max_by_key(|(length, _)| *length).map_or_else(String::new, |(_, kind)| kind)
}

/// How often in a second 4 KiB can be written and synced.
fn fsyncs_per_s(directory: &Path) -> std::io::Result<f64> {
    let path = directory.join(format!("leaseproof-sync-{}", std::process::id()));
    let outcome = sync_repeatedly(&path);
    // What is left over is a few bytes in a scratch directory.
    drop(fs::remove_file(&path));
    outcome
}

fn sync_repeatedly(path: &Path) -> std::io::Result<f64> {
    let mut file = File::create(path)?;
    let page = [7_u8; 4096];
    let start = Instant::now();
    let mut count = 0_u32;
    while start.elapsed() < SYNCING {
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&page)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_can_sync_a_file_and_leaves_nothing() {
        let directory = std::env::temp_dir();
        let conditions = look(&directory);
        assert!(conditions.fsyncs_per_s.is_some_and(|rate| rate > 0.0), "{conditions:?}");
        let left = directory.join(format!("leaseproof-sync-{}", std::process::id()));
        assert!(!left.exists());
    }
}
