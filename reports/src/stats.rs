//! Intervals and tests on a few repeats: Student's t, Welch's test, and Holm's correction.
//!
//! Invariants: nothing here draws a random number, so that the same repeats give the same verdict;
//! one repeat has no spread, and what has no spread has no interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The share of intervals that hold what they claim, and one minus the rate of false alarms.
pub const CONFIDENCE: f64 = 0.95;
/// The share of changes of the smallest detectable size that are detected.
const POWER: f64 = 0.80;

/// The mean of some repeats with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean; of logarithms when every repeat is positive, as fits ratios.
    pub mean: f64,
    /// The lower end of the interval; `None` for a single repeat.
    pub low: Option<f64>,
    /// The upper end of the interval; `None` for a single repeat.
    pub high: Option<f64>,
    /// How many repeats there are.
    pub repeats: usize,
}

impl Estimate {
    /// The estimate from `values`, or `None` when there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let scale = Scale::of(&[values]);
        let moments = Moments::of(&scale.all(values));
        let half = moments.half_width();
        Some(Self {
            mean: scale.back(moments.mean),
            low: half.map(|half| scale.back(moments.mean - half)),
            high: half.map(|half| scale.back(moments.mean + half)),
            repeats: values.len(),
        })
    }
}

/// How the mean of one sample differs from that of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The second mean divided by the first; `None` when the first is 0.
    pub ratio: Option<f64>,
    /// The interval of the ratio; `None` when there is no ratio, or no spread is known.
    pub interval: Option<(f64, f64)>,
    /// The probability of so great a difference between equals; `None` when no spread is known.
    pub p: Option<f64>,
    /// The smallest relative change that these repeats would show four times in five, such as
    /// `0.12`; `None` when no spread is known or the first mean is 0.
    pub detectable: Option<f64>,
}

impl Difference {
    /// The difference of `head` from `base`, by Welch's test; `None` when one of them is empty.
    ///
    /// Positive samples are compared by their logarithms, whose difference is a ratio; others as
    /// they are, in proportion to the mean of `base`.
    #[must_use]
    pub fn of(base: &[f64], head: &[f64]) -> Option<Self> {
        if base.is_empty() || head.is_empty() {
            return None;
        }
        let scale = Scale::of(&[base, head]);
        let (first, second) = (Moments::of(&scale.all(base)), Moments::of(&scale.all(head)));
        let difference = second.mean - first.mean;
        Some(scale.conclude(first.mean, difference, first.error_beside(&second)))
    }

    /// The difference of `head` from `base`, whose values were measured in pairs, by the paired test;
    /// `None` when they are not as many, or none.
    ///
    /// What both values of a pair share, such as a machine that slows down, drops out.
    #[must_use]
    pub fn paired(base: &[f64], head: &[f64]) -> Option<Self> {
        if base.is_empty() || base.len() != head.len() {
            return None;
        }
        let scale = Scale::of(&[base, head]);
        let (first, second) = (scale.all(base), scale.all(head));
        let apart: Vec<f64> = second.iter().zip(&first).map(|(head, base)| head - base).collect();
        let moments = Moments::of(&apart);
        let spread = moments.variance.map(|variance| {
            let error = (variance / moments.count).sqrt();
            (error, moments.count - 1.0)
        });
        Some(scale.conclude(Moments::of(&first).mean, moments.mean, spread))
    }
}

/// The probabilities `p`, in their order, corrected for being a family: the chance that any of
/// them alarms without a reason stays that of one.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|left, right| p[*left].total_cmp(&p[*right]));
    let mut corrected = vec![1.0; p.len()];
    let mut greatest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        let factor = count(p.len() - rank);
        greatest = greatest.max((p[place] * factor).min(1.0));
        corrected[place] = greatest;
    }
    corrected
}

/// The scale on which a sample is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Logarithmic,
    Linear,
}

impl Scale {
    fn of(samples: &[&[f64]]) -> Self {
        let positive = samples.iter().flat_map(|sample| sample.iter()).all(|value| *value > 0.0);
        if positive { Self::Logarithmic } else { Self::Linear }
    }

    fn all(self, values: &[f64]) -> Vec<f64> {
        match self {
            Self::Logarithmic => values.iter().map(|value| value.ln()).collect(),
            Self::Linear => values.to_vec(),
        }
    }

    fn back(self, value: f64) -> f64 {
        match self {
            Self::Logarithmic => value.exp(),
            Self::Linear => value,
        }
    }

    /// `difference` in proportion to `base`, both on this scale.
    fn relative(self, base: f64, difference: f64) -> Option<f64> {
        match self {
            Self::Logarithmic => Some(difference.exp()),
            Self::Linear if base > 0.0 => Some(1.0 + difference / base),
            Self::Linear if difference == 0.0 => Some(1.0),
            Self::Linear => None,
        }
    }

    /// What a difference amounts to, given its standard error with the degrees of freedom.
    fn conclude(self, base: f64, difference: f64, spread: Option<(f64, f64)>) -> Difference {
        let relative = |difference| self.relative(base, difference);
        let ratio = relative(difference);
        let Some((error, freedom)) = spread else {
            return Difference { ratio, interval: None, p: None, detectable: None };
        };
        if error == 0.0 {
            let p = if difference == 0.0 { 1.0 } else { 0.0 };
            let interval = ratio.map(|ratio| (ratio, ratio));
            return Difference { ratio, interval, p: Some(p), detectable: ratio.map(|_| 0.0) };
        }
        let t = student(freedom);
        let half = t.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) * error;
        let detectable = half + t.inverse_cdf(POWER) * error;
        Difference {
            ratio,
            interval: relative(difference - half).zip(relative(difference + half)),
            p: Some(2.0 * t.sf((difference / error).abs())),
            detectable: relative(detectable).map(|ratio| ratio - 1.0),
        }
    }
}

/// The mean of a sample and its variance, which a single value does not have.
struct Moments {
    mean: f64,
    variance: Option<f64>,
    count: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Self {
        let number = count(values.len());
        if values.iter().all(|value| *value == values[0]) {
            // Summing equal numbers would invent a spread out of rounding.
            let variance = (values.len() > 1).then_some(0.0);
            return Self { mean: values[0], variance, count: number };
        }
        let mean = values.iter().sum::<f64>() / number;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, variance: Some(squares / (number - 1.0)), count: number }
    }

    /// Half of the confidence interval of the mean.
    fn half_width(&self) -> Option<f64> {
        let error = (self.variance? / self.count).sqrt();
        let quantile = student(self.count - 1.0).inverse_cdf(f64::midpoint(1.0, CONFIDENCE));
        Some(quantile * error)
    }

    /// The standard error of the difference to `other`, with its degrees of freedom.
    fn error_beside(&self, other: &Self) -> Option<(f64, f64)> {
        let parts = [self.variance? / self.count, other.variance? / other.count];
        let sum = parts[0] + parts[1];
        let weighted =
            parts[0].powi(2) / (self.count - 1.0) + parts[1].powi(2) / (other.count - 1.0);
        let freedom = if weighted > 0.0 { sum.powi(2) / weighted } else { 1.0 };
        Some((sum.sqrt(), freedom))
    }
}

fn student(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("the scale and the freedom are positive")
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(left: f64, right: f64) {
        assert!((left - right).abs() <= 1e-3 * right.abs().max(1e-3), "{left} is not {right}");
    }

    /// Published two-sided 5 % points of Student's t: 2.776 for 4 degrees of freedom.
    #[test]
    fn an_interval_is_the_one_of_the_tables() {
        let estimate = Estimate::of(&[-2.0, -1.0, 0.0, 1.0, 2.0]).unwrap();
        near(estimate.high.unwrap(), 2.776 * (2.5_f64 / 5.0).sqrt());
        near(estimate.low.unwrap(), -estimate.high.unwrap());
        let ratio = Estimate::of(&[50.0, 200.0]).unwrap();
        near(ratio.mean, 100.0);
        near(ratio.low.unwrap() * ratio.high.unwrap(), 10_000.0);
    }

    #[test]
    fn one_repeat_has_no_interval() {
        let estimate = Estimate::of(&[7.0]).unwrap();
        assert_eq!((estimate.mean.round(), estimate.low, estimate.repeats), (7.0, None, 1));
        assert_eq!(Estimate::of(&[]), None);
        let difference = Difference::of(&[7.0], &[8.0, 8.1]).unwrap();
        assert_eq!((difference.p, difference.interval, difference.detectable), (None, None, None));
    }

    /// Student's sleep data, as in the documentation of R's `t.test`: t = −1.8608, 17.776 degrees
    /// of freedom, p = 0.07939, and the difference of means lies between −0.2055 and 3.3655.
    #[test]
    fn welch_is_the_published_one() {
        let base = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let head = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let difference = Difference::of(&base, &head).unwrap();
        near(difference.p.unwrap(), 0.079_39);
        near(difference.ratio.unwrap(), 1.0 + 1.58 / 0.75);
        let (low, high) = difference.interval.unwrap();
        near(low, 1.0 - 0.205_5 / 0.75);
        near(high, 1.0 + 3.365_5 / 0.75);
    }

    /// Student's sleep data again, each patient beside himself: R's documentation has t = −4.0621, 9
    /// degrees of freedom, p = 0.002833, and a mean difference between 0.7001 and 2.4599.
    #[test]
    fn the_paired_test_is_the_published_one() {
        let base = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let head = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let difference = Difference::paired(&base, &head).unwrap();
        near(difference.p.unwrap(), 0.002_833);
        let (low, high) = difference.interval.unwrap();
        near(low, 1.0 + 0.700_1 / 0.75);
        near(high, 1.0 + 2.459_9 / 0.75);
        assert_eq!(Difference::paired(&base, &head[..9]), None);
        assert_eq!(Difference::paired(&[1.0], &[2.0]).unwrap().p, None);
    }

    /// A machine that becomes four times slower while it is measured hides nothing from pairs.
    #[test]
    fn what_pairs_share_drops_out() {
        let base: Vec<f64> = (0..10).map(|group| 1000.0 / f64::from(1 + group % 4)).collect();
        let head: Vec<f64> = base.iter().map(|value| value * 0.8).collect();
        let paired = Difference::paired(&base, &head).unwrap();
        near(paired.ratio.unwrap(), 0.8);
        assert!(paired.p.unwrap() < 1e-6);
        assert!(Difference::of(&base, &head).unwrap().p.unwrap() > 0.05);
    }

    #[test]
    fn what_has_no_noise_is_exact() {
        let same = Difference::of(&[5.0; 3], &[5.0; 3]).unwrap();
        assert_eq!((same.p, same.detectable), (Some(1.0), Some(0.0)));
        let more = Difference::of(&[5.0; 3], &[6.0; 3]).unwrap();
        assert_eq!(more.p, Some(0.0));
        near(more.ratio.unwrap(), 1.2);
        let none = Difference::of(&[0.0; 3], &[0.0; 3]).unwrap();
        assert_eq!((none.ratio, none.p), (Some(1.0), Some(1.0)));
        let appeared = Difference::of(&[0.0; 3], &[2.0, 2.0, 2.0]).unwrap();
        assert_eq!((appeared.ratio, appeared.p), (None, Some(0.0)));
    }

    /// Holm (1979) on four probabilities: sorted, times 4, 3, 2, 1, never falling.
    #[test]
    fn holm_is_the_published_one() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in corrected.into_iter().zip([0.03, 0.06, 0.06, 0.02]) {
            near(got, expected);
        }
        assert!(holm(&[]).is_empty());
    }
}
