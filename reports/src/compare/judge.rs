//! When a difference of measurements counts: it is significant in its family, as great as the gate,
//! and greater than what these repeats can show. What passes is shown as well: its whole interval is
//! on the good side of the gate. What is neither is inconclusive.

use serde::Serialize;

use crate::{
    bench::{Direction, Metric, Nature},
    stats::{CONFIDENCE, Difference},
};

/// How great a change must be to matter, as shares such as `0.10`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// For operations in a time.
    pub throughput: f64,
    /// For percentiles in the tail.
    pub tail: f64,
    /// For counted work of a worker that meets no other, which hardly varies.
    pub counters: f64,
    /// For counted work of workers that meet each other: how much of it there is depends on who comes
    /// first.
    pub contended: f64,
    /// Whether times are judged at all; counted work always is.
    pub wall_clock: bool,
}

impl Default for Gate {
    fn default() -> Self {
        Self { throughput: 0.10, tail: 0.20, counters: 0.02, contended: 0.10, wall_clock: true }
    }
}

impl Gate {
    /// The share for a metric of a cell with one worker, or of a `contended` one; `None` for a metric
    /// that never fails a comparison.
    #[must_use]
    pub fn of(self, metric: Metric, contended: bool) -> Option<f64> {
        match metric.nature {
            Nature::Counter if contended => Some(self.contended),
            Nature::Counter => Some(self.counters),
            Nature::Throughput => Some(self.throughput).filter(|_| self.wall_clock),
            Nature::Tail => Some(self.tail).filter(|_| self.wall_clock),
            Nature::Plain => None,
        }
    }
}

/// What can be said about a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// It is worse.
    Worse,
    /// Neither a change nor its absence is shown.
    Inconclusive,
    /// It is not worse by as much as the gate; whether it is better or the same is not shown.
    NotWorse,
    /// It is better.
    Better,
    /// It is the same, within the gate.
    Equal,
    /// It is shown and not judged.
    Shown,
}

impl Judgement {
    /// The words for a metric of this nature.
    #[must_use]
    pub fn words(self, nature: Nature) -> &'static str {
        match (self, nature) {
            (Self::Worse, Nature::Counter) => "more work",
            (Self::Better, Nature::Counter) => "less work",
            (Self::NotWorse, Nature::Counter) => "not more work",
            (Self::Worse, _) => "slower",
            (Self::NotWorse, _) => "not slower",
            (Self::Better, _) => "faster",
            (Self::Inconclusive, _) => "inconclusive",
            (Self::Equal, _) => "equal",
            (Self::Shown, _) => "not judged",
        }
    }
}

/// Judges a difference, with `p` corrected for its family and the A/A `floor` of the runs; says why
/// when nothing can be said.
pub(super) fn judge(
    metric: Metric,
    difference: &Difference,
    p: Option<f64>,
    share: f64,
    floor: Option<f64>,
) -> (Judgement, String) {
    let (Some(p), lower) = (p, metric.direction == Direction::Lower) else {
        return (Judgement::Inconclusive, "one repeat has no spread".to_owned());
    };
    let significant = p <= 1.0 - CONFIDENCE;
    let Some(ratio) = difference.ratio else {
        // From nothing to something there is no ratio.
        return match (significant, lower) {
            (true, true) => (Judgement::Worse, "it was 0".to_owned()),
            (true, false) => (Judgement::Better, "it was 0".to_owned()),
            (false, _) => (Judgement::Inconclusive, "it was 0, and is not always".to_owned()),
        };
    };
    // A share of a mean near 0 can leave the range of logarithms.
    let log = |ratio: f64| ratio.max(1e-6).ln();
    let bound = if lower { (1.0 + share).ln() } else { -(1.0 - share).ln() };
    let effect = log(ratio);
    let detectable = difference.detectable.map_or(f64::INFINITY, |share| (1.0 + share).ln());
    let floor = floor.map_or(0.0, |floor| (1.0 + floor).ln());
    let noise = floor.max(detectable);
    let is_counter = metric.nature == Nature::Counter;
    // What lies beyond the gate with its whole interval is told, however little else these repeats show.
    let beyond = difference.interval.is_some_and(|(low, high)| log(low).max(-log(high)) >= bound);
    let needed = match (is_counter, beyond) {
        (true, _) => bound,
        (false, true) => bound.max(floor),
        (false, false) => bound.max(noise),
    };
    if significant && effect.abs() >= needed {
        let worse = (effect > 0.0) == lower;
        return (if worse { Judgement::Worse } else { Judgement::Better }, String::new());
    }
    // How far the interval reaches in the good and in the bad way; what is not known reaches anywhere.
    let (low, high) = difference
        .interval
        .map_or((f64::NEG_INFINITY, f64::INFINITY), |(low, high)| (log(low), log(high)));
    let (good, bad) = if lower { (-low, high) } else { (high, -low) };
    // Where the same thing differs from itself by more than the gate, no interval shows its absence.
    match (bad < bound && floor <= bound, good < bound) {
        (true, true) => (Judgement::Equal, String::new()),
        (true, false) => (Judgement::NotWorse, String::new()),
        (false, _) if noise > bound => {
            (Judgement::Inconclusive, "too noisy for the gate".to_owned())
        }
        (false, _) => (Judgement::Inconclusive, "the change is near the gate".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, base: &[f64], head: &[f64], floor: Option<f64>) -> Judgement {
        let metric = Metric::of(name);
        let difference = Difference::of(base, head).unwrap();
        let share = Gate::default().of(metric, false).unwrap();
        judge(metric, &difference, difference.p, share, floor).0
    }

    const STEADY: [f64; 5] = [1_000.0, 1_010.0, 990.0, 1_005.0, 995.0];
    const NOISY: [f64; 5] = [1_000.0, 1_200.0, 830.0, 1_100.0, 910.0];

    fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
        values.iter().rev().map(|value| value * factor).collect()
    }

    #[test]
    fn throughput_and_latency_have_opposite_ways() {
        let rate = |factor| of("claims_per_s", &STEADY, &scaled(&STEADY, factor), None);
        assert_eq!(rate(0.85), Judgement::Worse);
        assert_eq!(rate(1.3), Judgement::Better);
        assert_eq!(rate(0.97), Judgement::Equal);
        let tail = |factor| of("claim_p99_us", &STEADY, &scaled(&STEADY, factor), None);
        assert_eq!(tail(1.5), Judgement::Worse);
        assert_eq!(tail(0.7), Judgement::Better);
        assert_eq!(tail(1.1), Judgement::Equal);
    }

    #[test]
    fn noise_is_no_result_and_a_disaster_is() {
        let rate = |factor| of("claims_per_s", &NOISY, &scaled(&NOISY, factor), None);
        assert_eq!(rate(1.0), Judgement::Inconclusive);
        assert_eq!(rate(0.9), Judgement::Inconclusive);
        assert_eq!(rate(0.4), Judgement::Worse);
    }

    /// Half as much, give or take a quarter: these repeats would miss a smaller change, and not this one.
    #[test]
    fn an_interval_beyond_the_gate_is_enough() {
        let base = [1_000.0, 2_100.0, 700.0, 1_500.0, 1_000.0, 1_900.0, 800.0, 1_300.0];
        let head = [560.0, 900.0, 500.0, 740.0, 480.0, 1_000.0, 420.0, 800.0];
        let difference = Difference::of(&base, &head).unwrap();
        assert!(difference.interval.unwrap().1 < 0.9, "{difference:?}");
        assert!(difference.detectable.unwrap() > 0.5, "{difference:?}");
        assert_eq!(of("claims_per_s", &base, &head, None), Judgement::Worse);
        assert_eq!(of("claims_per_s", &base, &head, Some(1.5)), Judgement::Inconclusive);
    }

    /// Twelve hundredths slower, give or take six: not significant in a great family, and not equal.
    #[test]
    fn what_may_lie_beyond_the_gate_does_not_pass() {
        let base = [1_000.0, 1_060.0, 940.0, 1_030.0, 970.0];
        let difference = Difference::of(&base, &scaled(&base, 0.91)).unwrap();
        let (low, high) = difference.interval.unwrap();
        assert!(low < 0.9 && high > 0.9, "{difference:?}");
        let metric = Metric::of("claims_per_s");
        let judged = |floor| judge(metric, &difference, Some(0.4), 0.10, floor).0;
        assert_eq!(judged(None), Judgement::Inconclusive);
        assert_eq!(judged(Some(0.2)), Judgement::Inconclusive);
    }

    /// A fifth faster, give or take much: whether it is faster is not shown, and that it is not slower is.
    #[test]
    fn what_is_at_worst_the_same_passes() {
        let rate = |factor, floor| of("claims_per_s", &NOISY, &scaled(&NOISY, factor), floor);
        assert_eq!(rate(1.25, None), Judgement::NotWorse);
        assert_eq!(rate(1.25, Some(0.15)), Judgement::Inconclusive);
        let tail = |factor| of("claim_p99_us", &NOISY, &scaled(&NOISY, factor), None);
        assert_eq!(tail(0.8), Judgement::NotWorse);
        assert_eq!(tail(1.25), Judgement::Inconclusive);
    }

    #[test]
    fn what_identical_arms_differ_by_is_no_change() {
        let rate = |floor| of("claims_per_s", &STEADY, &scaled(&STEADY, 0.85), floor);
        assert_eq!(rate(Some(0.05)), Judgement::Worse);
        assert_eq!(rate(Some(0.25)), Judgement::Inconclusive);
    }

    #[test]
    fn counted_work_gates_tightly() {
        let pages = |factor| of("pages_per_claim", &STEADY, &scaled(&STEADY, factor), None);
        assert_eq!(pages(1.05), Judgement::Worse);
        assert_eq!(pages(1.0), Judgement::Equal);
        let skips = of("skips_per_claim", &[0.0; 3], &[2.0; 3], None);
        assert_eq!(skips, Judgement::Worse);
        assert_eq!(of("skips_per_claim", &[0.0; 3], &[0.0; 3], None), Judgement::Equal);
        assert_eq!(of("vm_steps_per_claim", &[81.0; 3], &[81.0; 3], None), Judgement::Equal);
        assert_eq!(of("vm_steps_per_claim", &[81.0; 3], &[90.0; 3], None), Judgement::Worse);
    }
}
