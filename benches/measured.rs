//! One repeat of a cell as it was measured, on its way into a report.

use leaseproof_engines::instruments::{Audit, Counter, Counters, Observed, Shape};
use leaseproof_reports::bench::{Latency, Reading, Repeat};

use crate::recorder::Record;
use crate::sampler::Samples;

/// The codes by which engines tell a client of a deadlock.
pub const DEADLOCKS: &[&str] = &["40P01", "1213"];

/// What one repeat found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The repeat, without its seed and order, which are the plan's.
    pub repeat: Repeat,
    /// What was violated; then the rest is no result.
    pub violations: Vec<String>,
}

impl Measured {
    /// Sets a reading.
    pub fn value(&mut self, name: &str, value: f64) {
        self.repeat.readings.insert(name.to_owned(), Reading::Value(value));
    }

    /// The number of a reading; 0 where there is none.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.repeat.readings.get(name).and_then(Reading::value).unwrap_or(0.0)
    }

    /// Says why there is no such reading.
    pub fn hidden(&mut self, name: &str, reason: &str) {
        self.repeat.readings.insert(name.to_owned(), Reading::NotObservable(reason.to_owned()));
    }

    /// Sets what an engine told, or did not tell.
    pub fn observed(&mut self, name: &str, observed: &Observed) {
        self.repeat.readings.insert(name.to_owned(), reading(observed, 1.0));
    }

    /// Sets a latency, if there is one.
    pub fn latency(&mut self, operation: &str, latency: Option<Latency>) {
        if let Some(latency) = latency {
            self.repeat.latencies.insert(operation.to_owned(), latency);
        }
    }

    /// Sets what workers recorded: series, fairness and errors.
    pub fn recorded(&mut self, record: &Record, seconds: f64) {
        self.repeat.seconds = seconds;
        // The last place is for what ended in a part of a second.
        let whole = (seconds.ceil() as usize).min(record.series.len());
        self.repeat.series = record.series[..whole].to_vec();
        self.repeat.workers.clone_from(&record.workers);
        self.repeat.errors = record.errors().collect();
        let counts = &record.workers;
        self.value("jain_index", jain(counts));
        self.value("worker_min", counts.iter().min().copied().unwrap_or(0) as f64);
        self.value("worker_max", counts.iter().max().copied().unwrap_or(0) as f64);
    }

    /// Sets every counter: as it is, and divided by the claims that caused it. The counters and
    /// `claims` are of the whole load, warm-up included, since a server cannot be read in between
    /// without disturbing it.
    pub fn counted(&mut self, change: &Counters, claims: u64) {
        for (counter, observed) in &change.0 {
            self.observed(counter.as_str(), observed);
            if counter.shape() == Shape::Total && claims > 0 {
                let name = format!("{}_per_claim", counter.as_str());
                self.repeat.readings.insert(name, reading(observed, claims as f64));
            }
        }
    }

    /// Sets what a sampler saw and what it cost.
    pub fn sampled(&mut self, samples: &Samples) {
        if let Some(refused) = &samples.refused {
            self.hidden("sampled_waiters", refused);
            self.hidden("sampled_wait_ms", refused);
            return;
        }
        let looks = samples.looks.max(1) as f64;
        let seconds = samples.seconds.max(f64::MIN_POSITIVE);
        self.value("sampled_waiters", samples.waiting as f64 / looks);
        self.value("sampled_wait_ms", samples.wait_ms());
        self.value("sampler_server_ms_per_s", samples.took_ms / seconds);
        self.value("sampler_client_cpu_ms_per_s", samples.cpu_ms / seconds);
        if samples.unnamed {
            self.hidden("blockers", "who holds the lock is not read while others are timed");
        }
        for (pair, count) in &samples.blockers {
            *self.repeat.blockers.entry(pair.clone()).or_default() += count;
        }
    }

    /// Checks that no event was lost or doubled: the table holds as many as were put in, nobody holds
    /// one when all have ended, and every acquisition that the table counted was somebody's.
    pub fn audited(&mut self, audit: Audit, events: u64, won: u64) {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        if audit.events != signed(events) {
            self.violations.push(format!("{events} events went in, {} are there", audit.events));
        }
        if audit.held - audit.done != 0 {
            let held = audit.held - audit.done;
            self.violations.push(format!("{held} events are held by nobody who runs"));
        }
        if audit.attempts != signed(won) {
            self.violations.push(format!(
                "the table counts {} acquisitions, the workers {won}",
                audit.attempts
            ));
        }
    }

    /// Checks that the deadlocks that clients were told of are those that the server counts.
    pub fn deadlocks(&mut self, change: &Counters, client: u64) {
        self.value("client_deadlocks", client as f64);
        if let Some(server) = change.value(Counter::Deadlocks)
            && server != client as f64
        {
            let text =
                format!("clients were told of {client} deadlocks, the server counts {server}");
            self.violations.push(text);
        }
    }
}

fn reading(observed: &Observed, by: f64) -> Reading {
    match observed {
        Observed::Value(value) => Reading::Value(value / by),
        Observed::NotObservable(reason) => Reading::NotObservable(reason.to_string()),
    }
}

/// Jain's fairness index: 1 when all did the same, 1/n when one did everything.
#[must_use]
pub fn jain(counts: &[u64]) -> f64 {
    let sum: f64 = counts.iter().map(|count| *count as f64).sum();
    let squares: f64 = counts.iter().map(|count| (*count as f64).powi(2)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (counts.len() as f64 * squares) }
}

/// The readings of several repeats of one name, in their order, where there are numbers.
#[must_use]
pub fn numbers(repeats: &[Repeat], name: &str) -> Vec<f64> {
    let values = repeats.iter().filter_map(|repeat| repeat.readings.get(name));
    values.filter_map(Reading::value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_when_all_did_the_same() {
        assert_eq!(jain(&[5, 5, 5]), 1.0);
        assert_eq!(jain(&[9, 0, 0]), 1.0 / 3.0);
        assert_eq!(jain(&[0, 0]), 1.0);
    }

    #[test]
    fn an_event_that_was_doubled_or_lost_is_a_violation() {
        let audit = Audit { events: 10, attempts: 7, held: 0, done: 0 };
        let found = |audit: Audit| {
            let mut measured = Measured::default();
            measured.audited(audit, 10, 7);
            measured.violations.len()
        };
        assert_eq!(found(audit), 0);
        assert_eq!(found(Audit { events: 9, ..audit }), 1);
        assert_eq!(found(Audit { attempts: 8, ..audit }), 1);
        assert_eq!(found(Audit { held: 1, ..audit }), 1);
        assert_eq!(found(Audit { held: 3, done: 3, ..audit }), 0);
    }
}
