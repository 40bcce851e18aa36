//! What a run must hold beyond its types before it is written, and after it is read.

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use super::{Case, Run, SCHEMA, SEED_MAX, Shard, Summary};
use crate::Outcome;

/// The major version that this crate reads and writes.
const MAJOR: u32 = 1;

/// Why a run contradicts itself, or cannot be read by this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The version of the schema is not two numbers.
    #[error("the schema version `{found}` is not of the form `major.minor`")]
    Version {
        /// What the report says.
        found: String,
    },
    /// The report has another major version.
    #[error(
        "schema `{found}` cannot be read by this version, which reads `{MAJOR}.x`; \
         `leaseproof {tool}`, which wrote the report, reads it"
    )]
    Major {
        /// The schema version of the report.
        found: String,
        /// The version of the program that wrote the report, and so reads it.
        tool: String,
    },
    /// Nothing ran, which must never look like success.
    #[error("a report with no cases")]
    NoCases,
    /// Nothing was measured, which must never look like a result.
    #[error("a report with no cells")]
    NoCells,
    /// A measurement is infinite or not a number, which JSON cannot hold.
    #[error("`{metric}` of `{cell}` is not a finite number")]
    NotANumber {
        /// The key of the cell.
        cell: String,
        /// The metric.
        metric: String,
    },
    /// Two engines have the same label.
    #[error("the engine `{label}` is listed twice")]
    DuplicateEngine {
        /// The label.
        label: String,
    },
    /// A case names an engine that the run does not have.
    #[error("the case `{case}` names the engine `{engine}`, which is not in `engines`")]
    UnknownEngine {
        /// The key of the case.
        case: String,
        /// The label it names.
        engine: String,
    },
    /// Two cases have the same key.
    #[error("the case `{case}` is listed twice")]
    DuplicateCase {
        /// The key of both cases.
        case: String,
    },
    /// A seed would lose digits in readers that keep numbers as doubles.
    #[error("the seed `{seed}` of `{of}` is greater than `{SEED_MAX}`")]
    Seed {
        /// The key of the case, or `run`.
        of: String,
        /// The seed.
        seed: u64,
    },
    /// A history lies outside the run directory.
    #[error("the history `{history}` of `{case}` is not a path inside the run directory")]
    History {
        /// The key of the case.
        case: String,
        /// The path it names.
        history: String,
    },
    /// A case is kept and has the reason of a known failure.
    #[error("the case `{case}` is kept, and so is no known failure")]
    KnownKept {
        /// The key of the case.
        case: String,
    },
    /// An entry of the known-failures file is said to be kept again and names another case.
    #[error("the known failure `{entry}` is kept again by `{case}`, which is no kept case")]
    RottenNotKept {
        /// The entry.
        entry: String,
        /// What it names.
        case: String,
    },
    /// A part of a run does not say of which part of the run each of its cases is.
    #[error("the shard {index}/{count} contradicts its cases: {what}")]
    Shard {
        /// Which part it says it is.
        index: u32,
        /// Of how many.
        count: u32,
        /// What is wrong.
        what: &'static str,
    },
    /// The summary is not what the cases and engines add up to.
    #[error("the summary says `{stated}`, and the report adds up to `{counted}`")]
    Summary {
        /// What the report says.
        stated: Box<Summary>,
        /// What its cases and engines add up to.
        counted: Box<Summary>,
    },
}

/// Whether a report of the schema version `found`, written by version `tool`, can be read.
///
/// Every minor version of the same major can: older ones lack fields that have defaults, newer
/// ones have fields that are ignored.
///
/// # Errors
///
/// [`SchemaError::Version`] when `found` is not `major.minor`, [`SchemaError::Major`] when its
/// major version is another one.
pub fn check_version(found: &str, tool: &str) -> Result<(), SchemaError> {
    let major = found
        .split_once('.')
        .filter(|(_, minor)| minor.parse::<u32>().is_ok())
        .and_then(|(major, _)| major.parse::<u32>().ok())
        .ok_or_else(|| SchemaError::Version { found: found.to_owned() })?;
    if major == MAJOR {
        return Ok(());
    }
    Err(SchemaError::Major { found: found.to_owned(), tool: tool.to_owned() })
}

impl Run {
    /// Whether the run can be trusted to say what its cases say.
    ///
    /// # Errors
    ///
    /// The first contradiction found. [`SchemaError::NoCases`] is looked for last, so that it
    /// means that nothing else is wrong.
    pub fn validate(&self) -> Result<(), SchemaError> {
        check_version(&self.schema, &self.tool.version)?;
        let mut labels = BTreeSet::new();
        for engine in &self.engines {
            if !labels.insert(engine.label.as_str()) {
                return Err(SchemaError::DuplicateEngine { label: engine.label.clone() });
            }
        }
        let mut keys = BTreeSet::new();
        for case in &self.cases {
            if !labels.contains(case.engine.as_str()) {
                return Err(SchemaError::UnknownEngine {
                    case: case.key(),
                    engine: case.engine.clone(),
                });
            }
            if !keys.insert(case.key()) {
                return Err(SchemaError::DuplicateCase { case: case.key() });
            }
            check_history(case)?;
        }
        self.check_seeds()?;
        self.check_known()?;
        self.check_shard()?;
        let counted = Summary::of(&self.cases, &self.engines);
        if !self.summary.agrees_with(&counted) {
            return Err(SchemaError::Summary {
                stated: Box::new(self.summary.clone()),
                counted: Box::new(counted),
            });
        }
        if self.cases.is_empty() {
            return Err(SchemaError::NoCases);
        }
        Ok(())
    }

    fn check_known(&self) -> Result<(), SchemaError> {
        let kept = || self.cases.iter().filter(|case| case.outcome == Outcome::Kept);
        if let Some(case) = kept().find(|case| case.known.is_some()) {
            return Err(SchemaError::KnownKept { case: case.key() });
        }
        let keys: BTreeSet<String> = kept().map(Case::key).collect();
        for rotten in &self.rotten {
            if let Some(case) = rotten.kept.iter().find(|key| !keys.contains(*key)) {
                return Err(SchemaError::RottenNotKept {
                    entry: rotten.entry.clone(),
                    case: case.clone(),
                });
            }
        }
        Ok(())
    }

    fn check_shard(&self) -> Result<(), SchemaError> {
        let Some(shard) = &self.shard else { return Ok(()) };
        let ascends = |places: &[u32]| places.is_sorted_by(|one, next| one < next);
        let what = if !(1..=shard.count).contains(&shard.index) {
            "its number is not one of its run's"
        } else if shard.engines.len() != self.engines.len() || !ascends(&shard.engines) {
            "its engines have no places in the run"
        } else if shard.cases.len() != self.cases.len()
            || !ascends(&shard.cases)
            || shard.cases.last().is_some_and(|place| *place >= shard.total)
        {
            "its cases have no places in the run"
        } else if !self.listed_are_kept(shard) {
            "what it says of known failures is not what its cases say"
        } else if !self.rotten.is_empty() {
            "it judges known failures, which only the whole run can"
        } else {
            return Ok(());
        };
        Err(SchemaError::Shard { index: shard.index, count: shard.count, what })
    }

    fn listed_are_kept(&self, shard: &Shard) -> bool {
        let kept = self.cases.iter().filter(|case| case.outcome == Outcome::Kept);
        let keys: BTreeSet<String> = kept.map(Case::key).collect();
        shard.listed.iter().flat_map(|entry| &entry.kept).all(|key| keys.contains(key))
    }

    fn check_seeds(&self) -> Result<(), SchemaError> {
        if self.seed > SEED_MAX {
            return Err(SchemaError::Seed { of: "run".to_owned(), seed: self.seed });
        }
        match self.cases.iter().find(|case| case.seed > SEED_MAX) {
            Some(case) => Err(SchemaError::Seed { of: case.key(), seed: case.seed }),
            None => Ok(()),
        }
    }
}

/// A report may come from elsewhere, and its reader opens the files that it names.
fn check_history(case: &Case) -> Result<(), SchemaError> {
    let Some(history) = &case.history else {
        return Ok(());
    };
    let inside = !history.is_empty()
        && Path::new(history).components().all(|part| matches!(part, Component::Normal(_)));
    if inside {
        return Ok(());
    }
    Err(SchemaError::History { case: case.key(), history: history.clone() })
}

// The written version is the one that is read.
const _: () = assert!(SCHEMA.as_bytes()[0] == b'0' + MAJOR as u8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Listed, Rotten, sample};

    fn error(change: impl FnOnce(&mut Run)) -> SchemaError {
        let mut run = sample::kept();
        change(&mut run);
        run.validate().unwrap_err()
    }

    #[test]
    fn samples_are_valid() {
        sample::kept().validate().unwrap();
        sample::full().validate().unwrap();
        sample::hostile().validate().unwrap();
    }

    #[test]
    fn minors_are_read_and_majors_are_not() {
        for minor in ["1.0", "1.7", "1.12"] {
            check_version(minor, "0.1.0").unwrap();
        }
        let message = check_version("2.0", "0.9.0").unwrap_err().to_string();
        assert!(message.contains("`leaseproof 0.9.0`"), "{message}");
        for malformed in ["", "1", "one.two", "1.x", "1.0.0"] {
            assert!(matches!(check_version(malformed, "0"), Err(SchemaError::Version { .. })));
        }
    }

    #[test]
    fn a_report_with_no_cases_is_an_error() {
        let error = error(|run| {
            run.cases.clear();
            run.summary = Summary::of(&run.cases, &run.engines);
        });
        assert_eq!(error.to_string(), "a report with no cases");
    }

    #[test]
    fn contradictions_are_named() {
        let twice = error(|run| run.cases.push(run.cases[0].clone()));
        assert!(matches!(twice, SchemaError::DuplicateCase { .. }), "{twice}");
        let twice = error(|run| run.engines.push(run.engines[0].clone()));
        assert!(matches!(twice, SchemaError::DuplicateEngine { .. }), "{twice}");
        let unknown = error(|run| run.cases[0].engine = "oracle:23".to_owned());
        assert!(unknown.to_string().contains("`oracle:23`"), "{unknown}");
        let disagrees = error(|run| run.cases[0].outcome = Outcome::Broken);
        assert!(disagrees.to_string().contains("1 broken"), "{disagrees}");
    }

    #[test]
    fn what_is_kept_is_no_known_failure() {
        let known = error(|run| run.cases[0].known = Some("it is known".to_owned()));
        assert!(matches!(known, SchemaError::KnownKept { .. }), "{known}");
        let not_kept = error(|run| {
            let rotten = |case: &Case| Rotten {
                entry: "sqlite: claim/*".to_owned(),
                reason: "it is known".to_owned(),
                kept: vec![case.key()],
            };
            run.cases[1].outcome = Outcome::Broken;
            run.rotten = run.cases[..2].iter().map(rotten).collect();
        });
        let SchemaError::RottenNotKept { case, .. } = &not_kept else {
            panic!("{not_kept}");
        };
        assert_eq!(case, "claim/is-exclusive/mysql:9.7/default");
    }

    #[test]
    fn a_shard_knows_the_place_of_each_case() {
        let mut run = sample::kept();
        let shard = Shard { index: 2, count: 3, total: 24, planned: 12, ..Shard::default() };
        run.shard =
            Some(Shard { engines: (0..4).collect(), cases: (12..24).collect(), ..shard.clone() });
        run.validate().unwrap();
        let refused = |change: fn(&mut Shard)| {
            let mut changed = run.clone();
            change(changed.shard.as_mut().unwrap());
            let error = changed.validate().unwrap_err();
            assert!(matches!(error, SchemaError::Shard { .. }), "{error}");
        };
        refused(|shard| shard.index = 0);
        refused(|shard| shard.index = 4);
        refused(|shard| shard.engines.clear());
        refused(|shard| shard.cases[1] = 12);
        refused(|shard| shard.total = 23);
        refused(|shard| {
            let (entry, reason) = ("claim/*".to_owned(), "it is known".to_owned());
            let (kept, failing) = (vec!["claim/x/sqlite/default".to_owned()], Vec::new());
            shard.listed = vec![Listed { number: 0, entry, reason, kept, failing }];
        });
    }

    #[test]
    fn seeds_stay_exact_in_a_double() {
        let of_run = error(|run| run.seed = SEED_MAX + 1);
        assert!(of_run.to_string().contains("9007199254740992"), "{of_run}");
        let of_case = error(|run| run.cases[0].seed = u64::MAX);
        assert!(of_case.to_string().contains("claim/is-exclusive"), "{of_case}");
    }

    #[test]
    fn a_history_stays_in_the_run_directory() {
        for outside in ["", "../../secret", "/etc/passwd", "histories/../../x"] {
            let error = error(|run| run.cases[0].history = Some(outside.to_owned()));
            assert!(matches!(error, SchemaError::History { .. }), "{outside}: {error}");
        }
    }

    #[test]
    fn counts_of_zero_may_be_left_out() {
        let mut run = sample::kept();
        run.summary.counts.retain(|_, count| *count > 0);
        run.validate().unwrap();
    }
}
