//! What the name of a metric says: which way is better, how it is read, and whether it may gate.
//!
//! Metrics are named by what is measured, with the unit last. One that nobody knows is shown and
//! decides nothing.

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better, as with throughput.
    Higher,
    /// Less is better, as with latency.
    Lower,
    /// Neither: it says what happened.
    Neither,
}

/// What kind of thing a metric is, which decides how tightly it can gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Work that is counted, such as pages: nearly free of noise.
    Counter,
    /// Operations in a time.
    Throughput,
    /// A percentile of latencies, far in the tail.
    Tail,
    /// Anything else; it never gates.
    Plain,
}

/// What the name of a metric says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Which way is better.
    pub direction: Direction,
    /// What kind of thing it is.
    pub nature: Nature,
    /// The unit, such as `µs` or `/claim`; empty for a plain number.
    pub unit: &'static str,
}

/// Counted work: what a claim touched, requested or stepped through.
const COUNTED: [&str; 6] = ["lock_requests", "pages", "rows_read", "skip", "vm_steps", "wal_bytes"];
/// Units, the longest suffix first.
const UNITS: [(&str, &str); 13] = [
    ("_ms_per_1k_claims", "ms/1k claims"),
    ("_bytes_per_claim", "B/claim"),
    ("_ms_per_claim", "ms/claim"),
    ("_us_per_claim", "µs/claim"),
    ("_ms_per_s", "ms/s"),
    ("_per_1k_claims", "/1k claims"),
    ("_per_claim", "/claim"),
    ("_per_s", "/s"),
    ("_bytes", "B"),
    ("_us", "µs"),
    ("_ns", "ns"),
    ("_ms", "ms"),
    ("_s", "s"),
];

impl Metric {
    /// What `name` says.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let unit = UNITS.iter().find(|(suffix, _)| name.ends_with(suffix));
        let unit = unit.map_or("", |(_, unit)| unit);
        let nature = nature(name);
        let lower = ["_us", "_ns", "_ms", "_per_claim", "_per_1k_claims", "_ratio"];
        let direction = match nature {
            Nature::Throughput => Direction::Higher,
            Nature::Counter | Nature::Tail => Direction::Lower,
            Nature::Plain if name.contains("jain") || name.contains("fairness") => {
                Direction::Higher
            }
            Nature::Plain if lower.iter().any(|suffix| name.ends_with(suffix)) => Direction::Lower,
            Nature::Plain => Direction::Neither,
        };
        Self { direction, nature, unit }
    }

    /// Whether a comparison may fail on the metric.
    #[must_use]
    pub fn gates(self) -> bool {
        self.nature != Nature::Plain
    }
}

fn nature(name: &str) -> Nature {
    let counted = COUNTED.iter().any(|counted| name.starts_with(counted));
    if counted && (name.ends_with("_per_claim") || name.ends_with("_per_op")) {
        Nature::Counter
    } else if matches!(name, "acks_per_s" | "claims_per_s" | "rows_per_s" | "cycles_per_s") {
        Nature::Throughput
    } else if name.ends_with("_p99_us") || name.ends_with("_p99_ms") {
        Nature::Tail
    } else {
        Nature::Plain
    }
}

/// The words of a metric's name without its unit: `lock_requests_per_claim` is `lock requests`.
pub(crate) fn words(name: &str) -> String {
    let suffix = UNITS.iter().find(|(suffix, _)| name.ends_with(suffix));
    let stem = suffix.and_then(|(suffix, _)| name.strip_suffix(suffix)).unwrap_or(name);
    let word = |word| match word {
        "cpu" => "CPU",
        "p999" => "p99.9",
        "vm" => "VM",
        "wal" => "WAL",
        word => word,
    };
    stem.split('_').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_it_is() {
        let of = |name| {
            let metric = Metric::of(name);
            (metric.direction, metric.nature, metric.unit)
        };
        assert_eq!(of("claims_per_s"), (Direction::Higher, Nature::Throughput, "/s"));
        assert_eq!(of("pages_per_claim"), (Direction::Lower, Nature::Counter, "/claim"));
        assert_eq!(of("wal_bytes_per_claim"), (Direction::Lower, Nature::Counter, "B/claim"));
        assert_eq!(of("claim_p99_us"), (Direction::Lower, Nature::Tail, "µs"));
        assert_eq!(of("claim_p50_us"), (Direction::Lower, Nature::Plain, "µs"));
        assert_eq!(of("skipped_rows_per_claim"), (Direction::Lower, Nature::Counter, "/claim"));
        assert_eq!(of("lock_wait_ms_per_claim"), (Direction::Lower, Nature::Plain, "ms/claim"));
        assert_eq!(of("jain_index"), (Direction::Higher, Nature::Plain, ""));
        assert_eq!(of("retries"), (Direction::Neither, Nature::Plain, ""));
    }

    #[test]
    fn words_have_no_unit() {
        assert_eq!(words("lock_requests_per_claim"), "lock requests");
        assert_eq!(words("claim_p999_us"), "claim p99.9");
        assert_eq!(words("jain_index"), "jain index");
        assert_eq!(words("vm_steps_per_claim"), "VM steps");
    }
}
