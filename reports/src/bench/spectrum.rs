//! The latencies of one operation over all repeats of a cell.
//!
//! Percentiles do not average: the histograms of the repeats are added up, and read once.

use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::{Histogram, serialization::Deserializer};

use super::{BenchCell, Latency};

/// The quantiles that are read, as far as there are latencies for them.
const QUANTILES: [f64; 12] =
    [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999];
/// The longest text of a histogram that is read; a real one has a few kilobytes.
const LONGEST: usize = 1 << 20;
/// The greatest range that a histogram may claim, in nanoseconds: an hour.
const GREATEST_NS: u64 = 3_600_000_000_000;

/// Latencies by quantile, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spectrum {
    /// Quantiles from 0 on with their latencies; the last one is the longest latency.
    pub points: Vec<(f64, f64)>,
    /// How many latencies there are.
    pub count: u64,
    /// Whether histograms were added up; otherwise these are medians over the repeats.
    pub merged: bool,
}

impl Spectrum {
    /// The latency that `quantile` of all stayed at or below, in microseconds.
    #[must_use]
    pub fn at(&self, quantile: f64) -> Option<f64> {
        let point = self.points.iter().find(|(at, _)| (at - quantile).abs() < 1e-9);
        point.map(|(_, us)| *us)
    }

    /// The longest latency, in microseconds.
    #[must_use]
    pub fn longest(&self) -> Option<f64> {
        self.points.last().map(|(_, us)| *us)
    }
}

impl BenchCell {
    /// The latencies of `operation` over all repeats, or `None` when there are none.
    #[must_use]
    pub fn spectrum(&self, operation: &str) -> Option<Spectrum> {
        let repeats = self.repeats.iter().filter_map(|repeat| repeat.latencies.get(operation));
        let latencies: Vec<&Latency> = repeats.filter(|latency| latency.count > 0).collect();
        if latencies.is_empty() {
            return None;
        }
        let histograms: Option<Vec<Histogram<u64>>> =
            latencies.iter().map(|latency| decode(&latency.histogram)).collect();
        Some(histograms.and_then(merged).unwrap_or_else(|| medians(&latencies)))
    }
}

fn decode(text: &str) -> Option<Histogram<u64>> {
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let bytes = STANDARD.decode(text).ok()?;
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).ok()?;
    (histogram.high() <= GREATEST_NS * 2 && !histogram.is_empty()).then_some(histogram)
}

fn merged(histograms: Vec<Histogram<u64>>) -> Option<Spectrum> {
    let mut histograms = histograms.into_iter();
    let mut all = histograms.next()?;
    all.auto(true);
    for histogram in histograms {
        all.add(histogram).ok()?;
    }
    let us = |ns: u64| ns as f64 / 1_000.0;
    let count = all.len();
    let tail = |quantile: f64| (1.0 - quantile) * count as f64;
    let shown = QUANTILES.into_iter().filter(|quantile| tail(*quantile) >= 1.0);
    let mut points: Vec<(f64, f64)> =
        shown.map(|quantile| (quantile, us(all.value_at_quantile(quantile)))).collect();
    points.push((1.0 - 1.0 / (count as f64 + 1.0), us(all.max())));
    Some(Spectrum { points, count, merged: true })
}

/// The medians over the repeats, for latencies without a histogram.
fn medians(latencies: &[&Latency]) -> Spectrum {
    let median = |of: fn(&Latency) -> f64| {
        let mut values: Vec<f64> = latencies.iter().map(|latency| of(latency)).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let count = latencies.iter().map(|latency| latency.count).sum::<u64>();
    let longest = latencies.iter().map(|latency| latency.max_us).fold(0.0, f64::max);
    let points = vec![
        (0.5, median(|latency| latency.p50_us)),
        (0.9, median(|latency| latency.p90_us)),
        (0.99, median(|latency| latency.p99_us)),
        (0.999, median(|latency| latency.p999_us)),
        (1.0 - 1.0 / (count as f64).max(2_000.0), longest),
    ];
    Spectrum { points, count, merged: false }
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn repeats_are_added_up_before_a_percentile_is_read() {
        let cell = sample::bench().cells[0].clone();
        let spectrum = cell.spectrum("claim").unwrap();
        let repeats = cell.repeats.iter().map(|repeat| &repeat.latencies["claim"]);
        assert!(spectrum.merged);
        assert_eq!(spectrum.count, repeats.clone().map(|latency| latency.count).sum::<u64>());
        let longest = repeats.map(|latency| latency.max_us).fold(0.0, f64::max);
        assert!((spectrum.longest().unwrap() - longest).abs() < 1.0);
        assert!(spectrum.points.is_sorted_by(|left, right| left.0 < right.0 && left.1 <= right.1));
        assert!(spectrum.at(0.99).unwrap() < longest);
        assert_eq!(cell.spectrum("nothing"), None);
    }

    #[test]
    fn what_is_no_histogram_leaves_the_medians() {
        let mut cell = sample::bench().cells[0].clone();
        for text in
            ["", "x", "<script>", "SGlzdEZBQUFBQUFB", "HISTFAAAAFp4nJNpmSzMwMAgxAABzFCaEUozMgIA"]
        {
            for repeat in &mut cell.repeats {
                repeat.latencies.get_mut("claim").unwrap().histogram = text.to_owned();
            }
            let spectrum = cell.spectrum("claim").unwrap();
            assert!(!spectrum.merged && spectrum.at(0.5).is_some(), "{text}");
        }
    }
}
