//! What a reader has to know about everything that is not kept, in the order of its weight.

use std::collections::BTreeMap;

use super::{text::one_line, variants::in_words};
use crate::{CapabilityState, Case, Contradiction, EngineRun, Outcome, Run};

/// One thing that is not kept: cases that differ in their variant only, an engine that could not
/// be provided, or a capability that an engine declares and does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding<'run> {
    /// How it ended.
    pub(super) outcome: Outcome,
    /// What it is about: the contract, or nothing when it concerns the whole engine.
    pub(super) contract: Option<&'run str>,
    /// The label of the engine.
    pub(super) engine: &'run str,
    /// The variants of the cases, in words; empty when it concerns the whole engine.
    pub(super) variants: String,
    /// What was observed, in one line; for a missing engine also what makes it available.
    pub(super) observed: String,
    /// Why it is a known failure, in one line, when it is one.
    pub(super) reason: Option<String>,
    /// How to run it again; of several variants the first.
    pub(super) replay: Option<String>,
}

/// Everything in `run` that is not kept and no known failure, the worst first and otherwise in
/// the order of the run.
///
/// A missing engine is one finding, whatever the number of cases that could not run on it.
pub(super) fn findings(run: &Run) -> Vec<Finding<'_>> {
    let engines = run.engines.iter().filter(|engine| engine.is_missing()).map(of_engine);
    let capabilities = run.engines.iter().flat_map(of_capabilities);
    let cases = run.cases.iter().filter(|case| {
        case.outcome != Outcome::Kept && !case.is_known_failure() && !run.is_covered_by_engine(case)
    });
    worst_first(engines.chain(capabilities).chain(grouped(run, cases)).collect())
}

/// The known failures of `run`, in the same order.
pub(super) fn known_failures(run: &Run) -> Vec<Finding<'_>> {
    worst_first(grouped(run, run.cases.iter().filter(|case| case.is_known_failure())))
}

/// What was observed when `engine` could not be provided, in one line.
pub(super) fn absence(engine: &EngineRun) -> String {
    let reason = engine.reason.as_deref().unwrap_or("it could not be provided");
    let remedy = engine.remedy.as_deref().map(|remedy| format!("; remedy: {remedy}"));
    one_line(&format!("{reason}{}", remedy.unwrap_or_default()))
}

/// How reality contradicts what an engine declares about the capability `name`, in one line.
pub(super) fn contradiction(how: Contradiction, name: &str, state: &CapabilityState) -> String {
    let how = match how {
        Contradiction::Absent => "is declared and not there",
        Contradiction::Undeclared => "is there and not declared",
    };
    let detail = Some(&state.detail).filter(|detail| !detail.is_empty());
    let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
    one_line(&format!("capability {name} {how}{detail}"))
}

/// What was observed in `case`, in one line.
pub(super) fn observed(case: &Case) -> String {
    let mut observed = one_line(&case.detail);
    if observed.is_empty() {
        observed.push_str("no detail was recorded");
    }
    if let Some((with_outcome, of)) = case.repeated() {
        observed.push_str(&format!(" ({with_outcome} of {of} repeats)"));
    }
    observed
}

fn worst_first(mut findings: Vec<Finding<'_>>) -> Vec<Finding<'_>> {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.outcome.severity()));
    findings
}

/// One finding for all the variants of a contract on an engine in which the same was observed.
fn grouped<'run>(run: &'run Run, cases: impl Iterator<Item = &'run Case>) -> Vec<Finding<'run>> {
    let mut groups: Vec<(&Case, Vec<&str>)> = Vec::new();
    let mut places = BTreeMap::new();
    for case in cases {
        let key = (case.place(), case.outcome, observed(case), &case.known);
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, variants)) => variants.push(&case.variant),
            None => groups.push((case, vec![&case.variant])),
        }
    }
    let all = run.variants();
    let finding = |(case, variants): &(&'run Case, Vec<&str>)| {
        of_case(case, in_words(variants, &all[&case.place()]))
    };
    groups.iter().map(finding).collect()
}

fn of_engine(engine: &EngineRun) -> Finding<'_> {
    Finding {
        outcome: Outcome::Missing,
        contract: None,
        engine: &engine.label,
        variants: String::new(),
        observed: absence(engine),
        reason: None,
        replay: None,
    }
}

/// What is there and not declared is no failure, and only the engines section notes it.
fn of_capabilities(engine: &EngineRun) -> impl Iterator<Item = Finding<'_>> {
    let absent = engine.contradictions().filter(|(how, ..)| *how == Contradiction::Absent);
    absent.map(|(how, name, state)| Finding {
        outcome: Outcome::Errored,
        contract: None,
        engine: &engine.label,
        variants: String::new(),
        observed: contradiction(how, name, state),
        reason: None,
        replay: None,
    })
}

fn of_case(case: &Case, variants: String) -> Finding<'_> {
    let reason = case.known.as_deref().filter(|_| case.is_known_failure());
    Finding {
        outcome: case.outcome,
        contract: Some(&case.id),
        engine: &case.engine,
        variants,
        observed: observed(case),
        reason: reason.map(one_line),
        replay: case.replay.as_deref().map(one_line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_worst_comes_first_and_kept_does_not_come() {
        let run = sample::hostile();
        let outcomes: Vec<_> =
            findings(&run).into_iter().map(|finding| finding.outcome.severity()).collect();
        assert!(outcomes.is_sorted_by(|left, right| left >= right), "{outcomes:?}");
        assert!(!outcomes.contains(&0));
        assert!(findings(&sample::kept()).is_empty());
    }

    #[test]
    fn a_missing_engine_is_one_finding() {
        let run = sample::hostile();
        let missing: Vec<_> = findings(&run)
            .into_iter()
            .filter(|finding| finding.outcome == Outcome::Missing && finding.contract.is_none())
            .collect();
        assert_eq!(missing.len(), 1);
        assert!(missing[0].observed.contains("; remedy: "), "{}", missing[0].observed);
    }

    #[test]
    fn repeats_are_counted() {
        let mut case = sample::case("claim/is-exclusive", "sqlite", Outcome::Broken);
        case.repeats = [(Outcome::Broken, 3), (Outcome::Kept, 47)].into();
        assert!(observed(&case).ends_with("(3 of 50 repeats)"));
    }

    #[test]
    fn variants_with_the_same_observation_are_one_finding() {
        let mut run = sample::kept();
        for number in 1..15 {
            let mut case = sample::case("claim/is-exclusive", "sqlite", Outcome::Broken);
            case.variant = format!("skip-locked {number}");
            case.known = (number % 2 == 0).then(|| "it is known".to_owned());
            run.cases.push(case);
        }
        run.cases.last_mut().unwrap().detail = "no claim won".to_owned();
        let variants = |findings: Vec<Finding<'_>>| -> Vec<usize> {
            findings.iter().map(|found| found.variants.split(", ").count()).collect()
        };
        assert_eq!(variants(findings(&run)), [7]);
        assert_eq!(variants(known_failures(&run)), [6, 1]);
    }

    #[test]
    fn a_false_declaration_is_a_finding_and_a_modest_one_is_not() {
        let mut run = sample::kept();
        let capabilities = &mut run.engines[0].capabilities;
        let waited = CapabilityState::probed(true, false, "the second session waited");
        capabilities.insert("nowait".to_owned(), waited);
        capabilities.insert("returning".to_owned(), CapabilityState::probed(false, true, ""));
        let found = findings(&run);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].observed,
            "capability nowait is declared and not there: the second session waited"
        );
    }
}
