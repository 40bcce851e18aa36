//! Axes with ticks where a reader expects them.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::super::text::clip;

/// About how many steps an axis has.
const STEPS: f64 = 4.0;

/// How many characters fit below an axis.
const CHARS: usize = 48;

/// One axis: its range, and the places that are labelled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
    logarithmic: bool,
}

impl Scale {
    /// Places 0, 1, 2 … with a label each.
    pub(super) fn places(labels: Vec<String>) -> Self {
        let high = labels.len() as f64 - 0.6;
        let room = (CHARS / labels.len().max(1)).max(3);
        let ticks = labels.iter().enumerate();
        let ticks = ticks.map(|(place, label)| (place as f64, clip(label, room)));
        Self { low: -0.4, high, ticks: ticks.collect(), logarithmic: false }
    }

    /// From 0 to a round number above `greatest`; `label` says what a tick says.
    pub(super) fn from_zero(greatest: f64, label: impl Fn(f64) -> String) -> Self {
        let greatest = if greatest > 0.0 { greatest * 1.04 } else { 1.0 };
        let step = round_step(greatest / STEPS);
        let steps = (greatest / step).ceil();
        let ticks = (0..=steps as u32).map(|number| f64::from(number) * step);
        let ticks = ticks.map(|tick| (tick, label(tick))).collect();
        Self { low: 0.0, high: step * steps, ticks, logarithmic: false }
    }

    /// From 0 to `greatest`, labelled at whole numbers.
    pub(super) fn whole(greatest: f64) -> Self {
        let step = round_step(greatest / STEPS).max(1.0).ceil();
        let ticks = (0..=(greatest / step) as u32).map(|number| f64::from(number) * step);
        let ticks = ticks.map(|tick| (tick, format!("{tick:.0}"))).collect();
        Self { low: 0.0, high: greatest.max(1.0), ticks, logarithmic: false }
    }

    /// The powers of ten around `least` and `greatest`, both positive.
    pub(super) fn powers(least: f64, greatest: f64, label: impl Fn(f64) -> String) -> Self {
        let (low, high) = (least.max(1e-9).log10().floor(), greatest.max(1e-9).log10().ceil());
        let high = high.max(low + 1.0);
        let ticks = (low as i32..=high as i32).map(|power| 10_f64.powi(power));
        let ticks = ticks.map(|tick| (tick, label(tick))).collect();
        Self { low: 10_f64.powf(low), high: 10_f64.powf(high), ticks, logarithmic: true }
    }

    /// Quantiles up to `greatest`, each nine as wide as the one before it.
    pub(super) fn tail(greatest: f64) -> Self {
        let nines = [
            (0.0, "0 %"),
            (0.9, "90 %"),
            (0.99, "99 %"),
            (0.999, "99.9 %"),
            (0.9999, "99.99 %"),
            (0.99999, "99.999 %"),
        ];
        let high = into_tail(greatest).max(1.0) + 0.05;
        let ticks = nines.map(|(quantile, label)| (into_tail(quantile), label.to_owned()));
        let ticks = ticks.into_iter().filter(|(tick, _)| *tick <= high).collect();
        Self { low: 0.0, high, ticks, logarithmic: false }
    }
}

/// How many nines `quantile` has.
pub(super) fn into_tail(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-12).log10()
}

fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|round| *round >= step * 0.999_999).unwrap_or(10.0 * power)
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let along = |value: f64| if self.logarithmic { value.max(1e-9).ln() } else { value };
        let (low, high) = (along(self.low), along(self.high));
        let share = (along(*value).clamp(low, high) - low) / (high - low);
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(tick, _)| *tick).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick == value);
        tick.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        let scale = Scale::from_zero(1_790.0, |tick| tick.to_string());
        assert_eq!(labels(&scale), ["0", "500", "1000", "1500", "2000"]);
        let scale = Scale::from_zero(0.0, |tick| tick.to_string());
        assert_eq!(scale.range(), 0.0..1.0);
        assert_eq!(labels(&Scale::whole(15.0)), ["0", "5", "10", "15"]);
        assert_eq!(labels(&Scale::whole(2.0)), ["0", "1", "2"]);
        let scale = Scale::powers(700.0, 22_000.0, |tick| tick.to_string());
        assert_eq!(labels(&scale), ["100", "1000", "10000", "100000"]);
        assert_eq!(labels(&Scale::tail(0.9995)), ["0 %", "90 %", "99 %", "99.9 %"]);
    }

    #[test]
    fn places_are_evenly_apart() {
        let scale = Scale::places(["1", "4", "16"].map(str::to_owned).to_vec());
        let at = [0.0, 1.0, 2.0].map(|place| scale.map(&place, (0, 280)));
        assert_eq!(at[1] - at[0], at[2] - at[1]);
        let logarithmic = Scale::powers(1.0, 100.0, |tick| tick.to_string());
        assert_eq!(logarithmic.map(&10.0, (100, 0)), 50);
    }
}
