//! What one worker records: latencies, tallies and errors, each at a fixed place.
//!
//! Invariants: recording allocates nothing and takes no lock; what ended before the window began or
//! after it ended is in no histogram, but in the totals, by which counters of a server are divided; of
//! what began before the window's end and went on after it, number and longest time are kept, for those
//! may be the longest of all.

use std::time::{Duration, Instant};

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use leaseproof_engines::EngineError;
use leaseproof_reports::bench::Latency;

/// The longest latency that is told apart from longer ones.
const LONGEST_NS: u64 = 120_000_000_000;
/// How many different error codes are told apart; the rest share a place.
const CODES: usize = 16;

/// Error codes with their counts.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    codes: [([u8; 8], u64); CODES],
}

impl Errors {
    fn add(&mut self, code: &str, count: u64) {
        let mut key = [0; 8];
        for (place, byte) in key.iter_mut().zip(code.bytes()) {
            *place = byte;
        }
        let last = CODES - 1;
        let at = self.codes.iter().position(|(known, count)| *known == key || *count == 0);
        self.codes[at.unwrap_or(last)].1 += count;
        if let Some(at) = at {
            self.codes[at].0 = key;
        }
    }

    fn iter(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.codes.iter().filter(|(_, count)| *count > 0).map(|(code, count)| {
            let code = String::from_utf8_lossy(code);
            (code.trim_end_matches('\0').to_owned(), *count)
        })
    }
}

/// Counts inside the window, and in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// What ended inside the window.
    pub window: u64,
    /// What ended at any time since the start.
    pub all: u64,
}

/// Operations of the first kind that the end of the window cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// How many there were.
    pub count: u64,
    /// How long the longest had taken when it ended, or was given up.
    pub longest: Duration,
}

impl Unfinished {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
    }
}

/// One worker's record. Operations and tallies are named by their place in a scenario's lists.
pub struct Recorder {
    window: (Instant, Instant),
    histograms: Vec<Histogram<u64>>,
    operations: Vec<Tally>,
    tallies: Vec<Tally>,
    series: Vec<u64>,
    /// How long each part of the series is.
    part: Duration,
    unfinished: Unfinished,
    errors: Errors,
    all_errors: Errors,
}

/// How long each part of a series is when nobody says otherwise.
pub const SECOND: Duration = Duration::from_secs(1);

impl Recorder {
    /// A record with places for that many operations and tallies, and a window that opens after
    /// `warm_up` and lasts for `window`.
    ///
    /// # Panics
    /// Never: the bounds of its histograms are valid.
    #[must_use]
    pub fn new(operations: usize, tallies: usize, window: Duration) -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 3);
        let histogram = histogram.expect("1 ns to two minutes in 3 digits is a valid range");
        let now = Instant::now();
        Self {
            window: (now, now),
            histograms: vec![histogram; operations],
            operations: vec![Tally::default(); operations],
            tallies: vec![Tally::default(); tallies],
            series: Vec::new(),
            part: SECOND,
            unfinished: Unfinished::default(),
            errors: Errors::default(),
            all_errors: Errors::default(),
        }
        .in_parts_of(SECOND, window)
    }

    /// The same with a series whose parts are that long.
    ///
    /// # Panics
    /// When the window has more parts than memory has room for.
    #[must_use]
    pub fn in_parts_of(mut self, part: Duration, window: Duration) -> Self {
        let parts = window.as_nanos() / part.as_nanos() + 1;
        self.series = vec![0; usize::try_from(parts).expect("a window fits memory")];
        self.part = part;
        self
    }

    /// Sets the window's beginning and end, which are known when all workers have met.
    pub(crate) fn open(&mut self, from: Instant, to: Instant) {
        self.window = (from, to);
    }

    fn is_inside(&self, at: Instant) -> bool {
        self.window.0 <= at && at < self.window.1
    }

    /// An operation began, or was due, at `from` and ends now. Returns when that is.
    pub fn ended(&mut self, operation: usize, from: Instant) -> Instant {
        let now = Instant::now();
        self.ended_at(operation, from, now);
        now
    }

    /// An operation began, or was due, at `from` and ended at `to`.
    pub fn ended_at(&mut self, operation: usize, from: Instant, to: Instant) {
        self.operations[operation].all += 1;
        if !self.is_inside(to) {
            if operation == 0 {
                self.cut_off(from, to);
            }
            return;
        }
        self.operations[operation].window += 1;
        let took = to.saturating_duration_since(from).as_nanos();
        self.histograms[operation].saturating_record(u64::try_from(took).unwrap_or(LONGEST_NS));
        if operation == 0 {
            let since = to.duration_since(self.window.0).as_nanos();
            let part = usize::try_from(since / self.part.as_nanos());
            if let Some(count) = part.ok().and_then(|at| self.series.get_mut(at)) {
                *count += 1;
            }
        }
    }

    /// The first operation, which began or was due at `from`, is given up now.
    pub fn gave_up(&mut self, from: Instant) {
        self.cut_off(from, Instant::now());
    }

    fn cut_off(&mut self, from: Instant, to: Instant) {
        if from < self.window.1 && self.window.1 <= to {
            let longest = to.duration_since(from);
            self.unfinished.add(Unfinished { count: 1, longest });
        }
    }

    /// Counts something that happened at `at`.
    pub fn tally(&mut self, tally: usize, count: u64, at: Instant) {
        self.tallies[tally].all += count;
        if self.is_inside(at) {
            self.tallies[tally].window += count;
        }
    }

    /// Counts an error by the engine's own code.
    pub fn failed(&mut self, error: &EngineError) {
        let code = error.code.as_deref().unwrap_or(error.kind.as_str());
        self.all_errors.add(code, 1);
        if self.is_inside(Instant::now()) {
            self.errors.add(code, 1);
        }
    }
}

/// The records of all workers as one.
pub struct Record {
    histograms: Vec<Histogram<u64>>,
    operations: Vec<Tally>,
    tallies: Vec<Tally>,
    /// Operations of the first kind that ended in each part of the window, which is a second unless the
    /// recorders were made otherwise.
    pub series: Vec<u64>,
    /// Operations of the first kind that each worker ended inside the window.
    pub workers: Vec<u64>,
    /// Operations of the first kind that the end of the window cut off.
    pub unfinished: Unfinished,
    errors: Errors,
    all_errors: Errors,
}

impl Record {
    /// Merges what workers recorded.
    ///
    /// # Panics
    /// When there is no recorder, or they were made for different scenarios.
    #[must_use]
    pub fn merge(recorders: Vec<Recorder>) -> Self {
        let workers = recorders.iter().map(|recorder| recorder.operations[0].window).collect();
        let mut recorders = recorders.into_iter();
        let first = recorders.next().expect("a load has a worker");
        let mut merged = Self {
            histograms: first.histograms,
            operations: first.operations,
            tallies: first.tallies,
            series: first.series,
            workers,
            unfinished: first.unfinished,
            errors: first.errors,
            all_errors: first.all_errors,
        };
        for recorder in recorders {
            merged.add(&recorder);
        }
        merged
    }

    fn add(&mut self, other: &Recorder) {
        for (sum, one) in self.histograms.iter_mut().zip(&other.histograms) {
            sum.add(one).expect("histograms of one scenario have the same bounds");
        }
        let tallies = self.operations.iter_mut().zip(&other.operations);
        for (sum, one) in tallies.chain(self.tallies.iter_mut().zip(&other.tallies)) {
            sum.window += one.window;
            sum.all += one.all;
        }
        self.unfinished.add(other.unfinished);
        for (sum, one) in self.series.iter_mut().zip(&other.series) {
            *sum += one;
        }
        for (sum, one) in
            [(&mut self.errors, &other.errors), (&mut self.all_errors, &other.all_errors)]
        {
            for (code, count) in one.iter() {
                sum.add(&code, count);
            }
        }
    }

    /// How often an operation ended.
    #[must_use]
    pub fn operations(&self, operation: usize) -> Tally {
        self.operations[operation]
    }

    /// What a tally came to.
    #[must_use]
    pub fn tally(&self, tally: usize) -> Tally {
        self.tallies[tally]
    }

    /// Errors inside the window by code.
    pub fn errors(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.errors.iter()
    }

    /// How many errors with one of these codes there were since the start.
    #[must_use]
    pub fn all_errors(&self, codes: &[&str]) -> u64 {
        let counted = self.all_errors.iter().filter(|(code, _)| codes.contains(&code.as_str()));
        counted.map(|(_, count)| count).sum()
    }

    /// The latencies of an operation, or `None` when it never ended inside the window.
    #[must_use]
    pub fn latency(&self, operation: usize) -> Option<Latency> {
        latency(&self.histograms[operation])
    }
}

/// Several latencies as one, from their histograms; `None` when there are none.
///
/// # Panics
/// When a histogram is none that [`latency`] wrote.
#[must_use]
pub fn merged(latencies: impl IntoIterator<Item = Latency>) -> Option<Latency> {
    let mut sum: Option<Histogram<u64>> = None;
    for one in latencies {
        let bytes = base64::engine::general_purpose::STANDARD.decode(one.histogram);
        let bytes = bytes.expect("a worker's histogram is in base64");
        let histogram = Deserializer::new().deserialize(&mut bytes.as_slice());
        let histogram: Histogram<u64> = histogram.expect("a worker's histogram can be read");
        match &mut sum {
            Some(sum) => sum.add(histogram).expect("histograms of workers have the same bounds"),
            None => sum = Some(histogram),
        }
    }
    latency(&sum?)
}

/// A histogram of nanoseconds as a report holds it.
///
/// # Panics
/// Never: a histogram that was built can be written.
#[must_use]
pub fn latency(histogram: &Histogram<u64>) -> Option<Latency> {
    if histogram.is_empty() {
        return None;
    }
    let us = |ns: u64| ns as f64 / 1000.0;
    let quantile = |quantile| us(histogram.value_at_quantile(quantile));
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    written.expect("a histogram that was built can be written to memory");
    Some(Latency {
        count: histogram.len(),
        p50_us: quantile(0.5),
        p90_us: quantile(0.9),
        p99_us: quantile(0.99),
        p999_us: quantile(0.999),
        max_us: us(histogram.max()),
        histogram: base64::engine::general_purpose::STANDARD.encode(bytes),
    })
}

#[cfg(test)]
mod tests;
