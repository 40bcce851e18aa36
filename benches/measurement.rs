//! What criterion measures in place of time: anything that an engine counts.

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter};

/// A count, such as nanoseconds waited or rows skipped. The routine returns it; nothing is timed here.
pub(crate) struct Counted {
    unit: &'static str,
}

impl Counted {
    pub(crate) fn new(unit: &'static str) -> Self {
        Self { unit }
    }
}

impl Measurement for Counted {
    type Intermediate = ();
    type Value = u64;

    fn start(&self) -> Self::Intermediate {}

    fn end(&self, (): Self::Intermediate) -> Self::Value {
        0
    }

    fn add(&self, one: &Self::Value, other: &Self::Value) -> Self::Value {
        one + other
    }

    fn zero(&self) -> Self::Value {
        0
    }

    fn to_f64(&self, value: &Self::Value) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Counted {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        self.unit
    }

    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        self.unit
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        self.unit
    }
}
