//! The run in the text format of Go's benchmarks, as `benchstat` reads it: a line per repeat.
//!
//! `benchstat -col /strategy bench.txt` and the like pivot by what a name holds.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::text::one_line, plain};
use crate::bench::{BenchCell, BenchRun, Direction, Metric, Reading, Repeat};

/// Renders `run` as lines of text, with the units that have a better way first.
#[must_use]
pub fn render(run: &BenchRun) -> String {
    let mut text = String::new();
    let facts = [
        ("goos", &run.host.os),
        ("goarch", &run.host.arch),
        ("cpu", &run.conditions.cpu),
        ("run", &run.id),
        ("profile", &run.profile),
        ("leaseproof", &run.tool.version),
    ];
    for (name, fact) in facts {
        if !fact.is_empty() {
            text.push_str(&format!("{name}: {}\n", one_line(fact)));
        }
    }
    let cells = || run.cells.iter().filter(|cell| cell.is_result());
    let metrics = cells().flat_map(|cell| cell.metrics().into_keys()).collect::<BTreeSet<_>>();
    for metric in metrics {
        let better = match Metric::of(&metric).direction {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
            Direction::Neither => continue,
        };
        text.push_str(&format!("Unit {} better={better}\n", unit(&metric)));
    }
    text.push('\n');
    for cell in cells() {
        let name = name(cell);
        for repeat in &cell.repeats {
            text.push_str(&line(&name, repeat));
        }
    }
    text
}

/// `BenchmarkClaimScaling/engine=sqlite/batch=1/workers=4`: a name begins with a capital letter.
fn name(cell: &BenchCell) -> String {
    let mut name = String::from("Benchmark");
    for word in plain(&cell.scenario).split(['-', '_']) {
        let mut chars = word.chars();
        if let Some(first) = chars.next() {
            name.extend(first.to_uppercase());
            name.push_str(chars.as_str());
        }
    }
    name.push_str(&format!("/engine={}", plain(&cell.engine)));
    for (parameter, value) in &cell.parameters {
        name.push_str(&format!("/{}={}", plain(parameter), plain(value)));
    }
    name
}

fn line(name: &str, repeat: &Repeat) -> String {
    let single = BenchCell { repeats: vec![repeat.clone()], ..BenchCell::default() };
    let values: BTreeMap<String, f64> = single
        .metrics()
        .into_iter()
        .filter_map(|(metric, observed)| Some((metric, observed.estimate()?.mean)))
        .collect();
    if values.is_empty() {
        return String::new();
    }
    let operations = repeat.readings.get("claims_per_s").and_then(Reading::value);
    // The format has a count of iterations, which is what ended in the window.
    let iterations = operations.map_or(1.0, |rate| (rate * repeat.seconds).round().max(1.0));
    let mut line = format!("{name} {iterations:.0}");
    for (metric, value) in values {
        line.push_str(&format!(" {value} {}", unit(&metric)));
    }
    line.push('\n');
    line
}

/// The metric as a unit, in which a rate is written with a `/`.
fn unit(metric: &str) -> String {
    plain(metric).replace("_per_", "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_line_is_a_name_a_count_and_pairs() {
        let run = sample::bench_hostile();
        let text = render(&run);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Benchmark")).collect();
        assert_eq!(lines.len(), (run.cells.len() - 2) * 5);
        for line in &lines {
            let fields: Vec<&str> = line.split(' ').collect();
            assert!(fields.len().is_multiple_of(2) && fields.len() > 2, "{line}");
            assert!(fields[1].parse::<u64>().is_ok(), "{line}");
            let values = fields[2..].iter().step_by(2);
            assert!(values.clone().all(|value| value.parse::<f64>().is_ok()), "{line}");
        }
        let name = "BenchmarkClaimScaling/engine=sqlite/batch=10/strategy=for-update/workers=16 ";
        assert_eq!(lines.iter().filter(|line| line.starts_with(name)).count(), 5);
        assert!(text.contains("Unit claims/s better=higher\n"), "{text}");
    }
}
