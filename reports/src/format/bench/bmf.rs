//! The run in the Bencher Metric Format: a benchmark per cell, a measure per metric.

use std::collections::BTreeMap;

use serde::Serialize;

use super::plain;
use crate::bench::{BenchCell, BenchRun};

#[derive(Serialize)]
struct Measure {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Renders `run` as pretty JSON that ends with a newline: means with their confidence intervals.
#[must_use]
pub fn render(run: &BenchRun) -> String {
    let cells = run.cells.iter().filter(|cell| cell.is_result());
    let benchmarks: BTreeMap<String, _> = cells.map(|cell| (name(cell), measures(cell))).collect();
    let mut text = serde_json::to_string_pretty(&benchmarks)
        .expect("the keys are strings, and numbers that are not finite become null");
    text.push('\n');
    text
}

fn name(cell: &BenchCell) -> String {
    let parameters =
        cell.parameters.iter().map(|(name, value)| format!("/{}={}", plain(name), plain(value)));
    let parameters: String = parameters.collect();
    format!("engine={}/scenario={}{parameters}", plain(&cell.engine), plain(&cell.scenario))
}

fn measures(cell: &BenchCell) -> BTreeMap<String, Measure> {
    let metrics = cell.metrics().into_iter();
    let measures = metrics.filter_map(|(name, observed)| {
        let estimate = observed.estimate()?;
        let measure =
            Measure { value: estimate.mean, lower_value: estimate.low, upper_value: estimate.high };
        Some((plain(&name), measure))
    });
    measures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cell_is_a_benchmark_and_what_is_no_result_is_none() {
        let run = sample::bench_hostile();
        let json: serde_json::Value = serde_json::from_str(&render(&run)).unwrap();
        assert_eq!(json.as_object().unwrap().len(), run.cells.len() - 2);
        let cell = "engine=sqlite/scenario=claim-scaling/batch=1/strategy=for-update/workers=4";
        let measure = &json[cell]["claims_per_s"];
        assert!(measure["lower_value"].as_f64() < measure["value"].as_f64(), "{measure}");
        assert!(json[cell].get("skipped_rows_per_claim").is_none());
    }
}
