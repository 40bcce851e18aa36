//! What a bench report must hold beyond its types before it is written, and after it is read.

use std::collections::BTreeSet;

use super::{BenchCell, BenchRun, Latency, Reading};
use crate::schema::{SEED_MAX, SchemaError, check_version};

impl BenchRun {
    /// Whether the run can be trusted to say what its cells say.
    ///
    /// # Errors
    ///
    /// The first contradiction found. [`SchemaError::NoCells`] is looked for last, so that it
    /// means that nothing else is wrong.
    pub fn validate(&self) -> Result<(), SchemaError> {
        check_version(&self.schema, &self.tool.version)?;
        if self.seed > SEED_MAX {
            return Err(SchemaError::Seed { of: "run".to_owned(), seed: self.seed });
        }
        let mut engines = BTreeSet::new();
        for engine in &self.engines {
            if !engines.insert(engine.name.as_str()) {
                return Err(SchemaError::DuplicateEngine { label: engine.name.clone() });
            }
        }
        let mut keys = BTreeSet::new();
        for cell in &self.cells {
            if !engines.contains(cell.engine.as_str()) {
                return Err(SchemaError::UnknownEngine {
                    case: cell.key(),
                    engine: cell.engine.clone(),
                });
            }
            if !keys.insert(cell.key()) {
                return Err(SchemaError::DuplicateCase { case: cell.key() });
            }
            if let Some(metric) = not_a_number(cell) {
                return Err(SchemaError::NotANumber { cell: cell.key(), metric });
            }
        }
        if self.cells.is_empty() {
            return Err(SchemaError::NoCells);
        }
        Ok(())
    }
}

/// JSON has no infinity, and what divides by nothing would be written as `null`.
fn not_a_number(cell: &BenchCell) -> Option<String> {
    cell.repeats.iter().find_map(|repeat| {
        let seconds = ("seconds", repeat.seconds);
        let readings = repeat.readings.iter().filter_map(|(name, reading)| match reading {
            Reading::Value(value) => Some((name.as_str(), *value)),
            Reading::NotObservable(_) => None,
        });
        let of = |(name, latency): (&String, &Latency)| {
            let worst =
                [latency.p50_us, latency.p90_us, latency.p99_us, latency.p999_us, latency.max_us];
            (!worst.iter().all(|value| value.is_finite())).then(|| name.clone())
        };
        let broken = readings.chain([seconds]).find(|(_, value)| !value.is_finite());
        broken.map(|(name, _)| name.to_owned()).or_else(|| repeat.latencies.iter().find_map(of))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn error(change: impl FnOnce(&mut BenchRun)) -> SchemaError {
        let mut run = sample::bench();
        change(&mut run);
        run.validate().unwrap_err()
    }

    #[test]
    fn contradictions_are_named() {
        sample::bench().validate().unwrap();
        sample::bench_hostile().validate().unwrap();
        let twice = error(|run| run.cells.push(run.cells[0].clone()));
        assert!(matches!(twice, SchemaError::DuplicateCase { .. }), "{twice}");
        let unknown = error(|run| run.cells[0].engine = "oracle".to_owned());
        assert!(unknown.to_string().contains("`oracle`"), "{unknown}");
        let newer = error(|run| run.schema = "2.0".to_owned());
        assert!(matches!(newer, SchemaError::Major { .. }), "{newer}");
        let nothing = error(|run| run.cells.clear());
        assert_eq!(nothing, SchemaError::NoCells);
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        let infinite = error(|run| {
            let readings = &mut run.cells[0].repeats[0].readings;
            readings.insert("skips_per_claim".to_owned(), Reading::Value(f64::INFINITY));
        });
        assert!(infinite.to_string().contains("`skips_per_claim`"), "{infinite}");
        let nan = error(|run| run.cells[0].repeats[0].seconds = f64::NAN);
        assert!(matches!(nan, SchemaError::NotANumber { .. }), "{nan}");
    }
}
