//! How much is measured, as data.

use std::time::Duration;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// The stable name.
    pub name: &'static str,
    /// How often each cell under load is measured, each time on a store of its own.
    pub repeats: u32,
    /// The same for cells whose answer is larger than the noise.
    pub few_repeats: u32,
    /// How long a load runs before it is measured.
    pub warm_up: Duration,
    /// How long it is measured.
    pub window: Duration,
    /// How many events a queue holds.
    pub depth: u64,
    /// How many workers contend.
    pub workers: &'static [usize],
    /// How many events are claimed at once.
    pub batches: &'static [u32],
    /// How many processes write to one file.
    pub processes: &'static [usize],
    /// How long a lock is held in the wait probe, in milliseconds, with the number of times.
    pub holds_ms: &'static [(u64, u32)],
    /// How many rows are held by others in the skip probe.
    pub skips: &'static [u64],
    /// How many claims the skip probe makes beside each number of rows.
    pub skip_claims: u32,
    /// How many rows a queue holds, in the scenario that varies it.
    pub depths: &'static [u64],
    /// How often a server is looked at in a second while it is under load.
    pub sample_hz: f64,
    /// How many events expire at once in the expiry storm.
    pub storm: u64,
    /// How often a process of workers is killed.
    pub kills: u32,
}

/// Every instrument shown in a few minutes for each engine; too short for a verdict on throughput.
pub const QUICK: Profile = Profile {
    name: "quick",
    repeats: 3,
    few_repeats: 2,
    warm_up: Duration::from_millis(400),
    window: Duration::from_millis(1600),
    depth: 5000,
    workers: &[1, 4, 16],
    batches: &[10],
    processes: &[1, 4],
    holds_ms: &[(50, 5), (200, 3)],
    skips: &[0, 10, 100, 1000],
    skip_claims: 20,
    depths: &[1000, 20_000],
    sample_hz: 10.0,
    storm: 200,
    kills: 2,
};

/// Windows that cross at least one autovacuum nap and one checkpoint, and enough repeats for a
/// comparison.
pub const FULL: Profile = Profile {
    name: "full",
    repeats: 10,
    few_repeats: 5,
    warm_up: Duration::from_secs(10),
    window: Duration::from_secs(120),
    depth: 20_000,
    workers: &[1, 2, 4, 8, 16, 32, 64],
    batches: &[1, 10, 100],
    processes: &[1, 2, 4, 8, 16],
    holds_ms: &[(50, 50), (200, 50), (1000, 50)],
    skips: &[0, 10, 100, 1000, 10_000],
    skip_claims: 200,
    depths: &[1000, 100_000, 1_000_000],
    sample_hz: 10.0,
    storm: 1000,
    kills: 12,
};

/// For a verdict on an upgrade in minutes: short turns, many of them, so that both sides meet the
/// same machine. Tails need the longer one.
pub const GATE_QUICK: Profile = Profile {
    name: "gate-quick",
    repeats: 20,
    few_repeats: 20,
    warm_up: Duration::from_millis(60),
    window: Duration::from_millis(300),
    depth: 2000,
    workers: &[1, 8],
    batches: &[10],
    processes: &[4],
    holds_ms: &[(50, 1)],
    skips: &[100],
    skip_claims: 20,
    depths: &[10_000],
    sample_hz: 0.0,
    storm: 200,
    kills: 1,
};

/// Turns that cross an autovacuum nap and a checkpoint, for a verdict on tails as well.
pub const GATE_FULL: Profile = Profile {
    name: "gate-full",
    repeats: 20,
    few_repeats: 20,
    warm_up: Duration::from_secs(2),
    window: Duration::from_secs(30),
    depth: 20_000,
    workers: &[1, 16],
    batches: &[10],
    processes: &[8],
    holds_ms: &[(200, 5)],
    skips: &[100, 1000],
    skip_claims: 100,
    depths: &[100_000],
    sample_hz: 0.0,
    storm: 1000,
    kills: 2,
};

impl Profile {
    /// Every profile for measuring one server.
    pub const ALL: [&'static Self; 2] = [&QUICK, &FULL];
    /// Every profile for comparing two, or one with its baseline.
    pub const GATES: [&'static Self; 2] = [&GATE_QUICK, &GATE_FULL];

    /// How long one repeat under load takes, with the making of its store.
    #[must_use]
    pub fn load_s(&self) -> f64 {
        const STORE_S: f64 = 0.6;
        (self.warm_up + self.window).as_secs_f64() + STORE_S
    }
}
