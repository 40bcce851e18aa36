//! Whether a report that somebody published is whole, consistent and what was written.
//!
//! Invariants: pure; it judges the report and never the engine, so that a report of broken contracts
//! can be a good one; text of the report is made harmless, because nobody knows who wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::{Outcome, Run, SchemaError, digest::Seal, format::text::one_line};

/// A case that a whole report has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    /// The label of the engine.
    pub engine: String,
    /// The id of the contract.
    pub contract: String,
    /// The variant.
    pub variant: String,
}

/// One thing that is wrong with a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub kind: Kind,
    /// What it is, in one line.
    pub text: String,
}

/// What can be wrong with a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It contradicts itself.
    Schema,
    /// Its summary is not what its cases add up to.
    Summary,
    /// It is not what was written.
    Digest,
    /// Something that belongs to a whole report did not run.
    Partial,
    /// A file that it names is not there.
    File,
}

impl Finding {
    /// A finding, with its text made harmless.
    #[must_use]
    pub fn new(kind: Kind, text: &str) -> Self {
        Self { kind, text: one_line(text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Schema => "schema",
            Kind::Summary => "summary",
            Kind::Digest => "digest",
            Kind::Partial => "partial",
            Kind::File => "file",
        };
        write!(formatter, "{kind}: {}", self.text)
    }
}

/// Everything that is wrong with a report: nothing, when it may be published.
///
/// `required` are the cases that a whole report of its engines has.
#[must_use]
pub fn verify(run: &Run, seal: Seal, required: &[Required]) -> Vec<Finding> {
    let mut findings = Vec::new();
    match run.validate() {
        Ok(()) => {}
        Err(SchemaError::NoCases) => findings.push(Finding::new(Kind::Partial, "nothing ran")),
        Err(error @ SchemaError::Summary { .. }) => {
            findings.push(Finding::new(Kind::Summary, &error.to_string()));
        }
        Err(error) => findings.push(Finding::new(Kind::Schema, &error.to_string())),
    }
    match seal {
        Seal::Intact => {}
        Seal::Broken => {
            findings
                .push(Finding::new(Kind::Digest, "the report was changed after it was written"));
        }
        Seal::Absent => {
            let text = "it has none, so nothing shows that the report is what was written";
            findings.push(Finding::new(Kind::Digest, text));
        }
    }
    findings.extend(partial(run).into_iter().map(|text| Finding::new(Kind::Partial, &text)));
    findings
        .extend(absent(run, required).into_iter().map(|text| Finding::new(Kind::Partial, &text)));
    findings
}

/// What the report itself says that it lacks.
fn partial(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(shard) = &run.shard {
        lines.push(format!("it is shard {} of {} only", shard.index, shard.count));
    }
    if let Some(partial) = &run.partial {
        let missing = partial.missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        lines.push(format!("it was merged without shards {missing} of {}", partial.count));
    }
    if run.engines.is_empty() {
        lines.push("it has no engine".to_owned());
    }
    for engine in run.engines.iter().filter(|engine| engine.is_missing()) {
        lines.push(format!("{}: the engine could not be provided", engine.label));
    }
    lines
}

/// The required cases that did not run, a line for each contract on an engine; of an engine that could
/// not be provided nothing ran, which is said already.
fn absent(run: &Run, required: &[Required]) -> Vec<String> {
    let mut lines = Vec::new();
    let known: BTreeSet<&str> = required.iter().map(|required| required.engine.as_str()).collect();
    for engine in run.engines.iter().filter(|engine| !known.contains(engine.label.as_str())) {
        lines.push(format!("{}: this version knows no such engine", engine.label));
    }
    let cases: BTreeMap<_, _> = run.cases.iter().map(|case| (case.key(), case)).collect();
    let mut places: BTreeMap<(&str, &str, &'static str), Vec<&str>> = BTreeMap::new();
    for Required { engine, contract, variant } in required {
        if run.engine(engine).is_none_or(crate::EngineRun::is_missing) {
            continue;
        }
        let case = cases.get(&format!("{contract}/{engine}/{variant}"));
        let what = match case {
            None => "did not run",
            Some(case) if case.outcome == Outcome::Skipped => "was skipped",
            Some(case) if case.outcome == Outcome::Missing => "did not run",
            Some(case) if case.repeats.values().sum::<u32>() < run.repeat => {
                "was not repeated as said"
            }
            Some(_) => continue,
        };
        places.entry((engine, contract, what)).or_default().push(variant);
    }
    let line = |((engine, contract, what), variants): ((&str, &str, &str), Vec<&str>)| {
        format!("{engine}: {contract} {what}, variants: {}", variants.join(", "))
    };
    lines.extend(places.into_iter().map(line));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineStatus, Shard, Summary, sample};

    /// What is found in a report after a change, with the cases of the unchanged one required.
    fn found(change: impl FnOnce(&mut Run)) -> Vec<String> {
        let mut run = sample::kept();
        let required = run.cases.iter().map(|case| Required {
            engine: case.engine.clone(),
            contract: case.id.clone(),
            variant: case.variant.clone(),
        });
        let required: Vec<Required> = required.collect();
        change(&mut run);
        verify(&run, Seal::Intact, &required).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_report_has_no_finding_even_of_a_broken_engine() {
        assert_eq!(found(|_| ()), [""; 0]);
        let broken = found(|run| {
            run.cases[0].outcome = Outcome::Broken;
            run.summary = Summary::of(&run.cases, &run.engines);
        });
        assert_eq!(broken, [""; 0]);
    }

    #[test]
    fn what_did_not_run_makes_it_partial() {
        let lines = found(|run| {
            run.cases[0].outcome = Outcome::Skipped;
            run.cases.retain(|case| case.key() != "ack/owner-only/sqlite/default");
            run.summary = Summary::of(&run.cases, &run.engines);
        });
        let skipped = "partial: postgres:18: claim/is-exclusive was skipped, variants: default";
        let absent = "partial: sqlite: ack/owner-only did not run, variants: default";
        assert_eq!(lines, [skipped, absent]);
        let missing = found(|run| {
            run.engines[1].status = EngineStatus::Missing;
            run.cases.retain(|case| case.engine != "mysql:9.7");
            run.summary = Summary::of(&run.cases, &run.engines);
        });
        assert_eq!(missing, ["partial: mysql:9.7: the engine could not be provided"]);
        let repeated = found(|run| run.repeat = 5);
        assert_eq!(repeated.len(), 12);
        let shard = found(|run| {
            let (engines, cases) = ((0..4).collect(), (0..12).collect());
            let shard = Shard { index: 2, count: 3, total: 36, planned: 12, ..Shard::default() };
            run.shard = Some(Shard { engines, cases, ..shard });
        });
        assert_eq!(shard, ["partial: it is shard 2 of 3 only"]);
    }

    #[test]
    fn what_was_edited_is_found() {
        let lines = found(|run| run.cases[0].outcome = Outcome::Broken);
        assert!(lines[0].starts_with("summary: the summary says `12 cases, 12 kept`"), "{lines:?}");
        let run = sample::kept();
        let digest = verify(&run, Seal::Broken, &[]).remove(0);
        assert_eq!(digest.to_string(), "digest: the report was changed after it was written");
        assert_eq!(verify(&run, Seal::Absent, &[])[0].kind, Kind::Digest);
    }

    #[test]
    fn text_of_a_report_is_harmless() {
        let hostile = sample::hostile();
        for finding in verify(&hostile, Seal::Intact, &[]) {
            assert!(!finding.to_string().contains(char::is_control), "{finding}");
        }
    }
}
