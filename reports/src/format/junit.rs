//! The run as JUnit XML, in the dialect of Jenkins that most readers accept.
//!
//! Invariants: a broken promise is a `failure`, a run that could not tell is an `error`, and a
//! capability that is absent or a known failure is `skipped`; a false declaration of a capability is
//! an `error`, and a known failure that is kept again a `failure`; every test name is unique, because
//! some readers drop the later ones of a name; a report in which nothing ran is never free of errors.

use std::{collections::BTreeSet, time::Duration};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{
    finding::{absence, contradiction, observed},
    rotten,
    text::{lines, one_line},
};
use crate::{Case, Contradiction, EngineRun, Outcome, Rotten, Run};

/// Renders `run` as JUnit XML: one test suite per engine, one test case per case.
///
/// A missing engine is a suite with the errored test case `provide [<label>]`, a capability that is
/// declared and not there an errored test case `capability <name> [<label>]`. Known failures that
/// are kept again are a suite of their own, of failed test cases `known-failing [<entry>]`.
#[must_use]
pub fn render(run: &Run) -> String {
    let mut report = Report::new("leaseproof");
    report.set_time(Duration::from_millis(run.duration_ms));
    let timestamp = run.started.to_string();
    report.timestamp = timestamp.parse().ok();
    let mut names = Names::default();
    for engine in &run.engines {
        let mut suite = suite_of(run, engine, &mut names);
        suite.timestamp = timestamp.parse().ok();
        report.add_test_suite(suite);
    }
    if run.engines.is_empty() {
        let mut suite = TestSuite::new("leaseproof");
        suite.add_test_case(nothing_ran("leaseproof", "the report has no engines and no cases"));
        report.add_test_suite(suite);
    }
    if !run.rotten.is_empty() {
        let mut suite = TestSuite::new("known-failing");
        suite.timestamp = timestamp.parse().ok();
        suite.add_test_cases(run.rotten.iter().map(|entry| kept_again(entry, &mut names)));
        report.add_test_suite(suite);
    }
    report.to_string().expect("XML is written to memory, from text that is UTF-8")
}

fn suite_of(run: &Run, engine: &EngineRun, names: &mut Names) -> TestSuite {
    let label = one_line(&engine.label);
    let mut suite = TestSuite::new(&label);
    suite.add_properties(properties(run, engine));
    if engine.is_missing() {
        let message = absence(engine);
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(&message).set_type(Outcome::Missing.as_str()).set_description(&message);
        let mut test = TestCase::new(names.unique(format!("provide [{label}]")), status);
        test.set_classname(format!("{label}.provide"));
        suite.add_test_case(test);
    }
    let mut duration_ms = 0_u64;
    for case in run.cases_of(&engine.label) {
        duration_ms = duration_ms.saturating_add(case.duration_ms);
        suite.add_test_case(test_of(run, case, names));
    }
    if suite.tests == 0 {
        suite.add_test_case(nothing_ran(&label, "no case ran on this engine"));
    }
    suite.add_test_cases(false_declarations(engine, names));
    suite.set_time(Duration::from_millis(duration_ms));
    suite
}

fn test_of(run: &Run, case: &Case, names: &mut Names) -> TestCase {
    let [id, engine, variant] = [&case.id, &case.engine, &case.variant].map(|text| one_line(text));
    let known = case.known.as_deref().filter(|_| case.is_known_failure());
    let mut status = match case.outcome {
        _ if known.is_some() => TestCaseStatus::skipped(),
        Outcome::Kept => TestCaseStatus::success(),
        Outcome::Broken => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Unsupported | Outcome::Skipped => TestCaseStatus::skipped(),
        // The test case `provide` of the engine carries the error, once.
        Outcome::Missing if run.is_covered_by_engine(case) => TestCaseStatus::skipped(),
        Outcome::Inconclusive | Outcome::Errored | Outcome::Missing => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
    };
    if case.outcome != Outcome::Kept {
        let message = match known {
            Some(reason) => format!("known failure: {}: {}", one_line(reason), observed(case)),
            None => one_line(&case.detail),
        };
        status.set_message(message).set_type(case.outcome.as_str());
    }
    if matches!(status, TestCaseStatus::NonSuccess { .. }) {
        status.set_description(description(case));
    }
    let name = names.unique(format!("{id} [{engine} {variant}]"));
    let mut test = TestCase::new(name, status);
    test.set_classname(format!("{engine}.{}", one_line(case.family())));
    test.set_time(Duration::from_millis(case.duration_ms));
    test
}

fn false_declarations(engine: &EngineRun, names: &mut Names) -> Vec<TestCase> {
    let label = one_line(&engine.label);
    let absent = engine.contradictions().filter(|(how, ..)| *how == Contradiction::Absent);
    let tests = absent.map(|(how, name, state)| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status
            .set_message(contradiction(how, name, state))
            .set_type(Outcome::Errored.as_str())
            .set_description(lines(&state.detail));
        let name = names.unique(format!("capability {} [{label}]", one_line(name)));
        let mut test = TestCase::new(name, status);
        test.set_classname(format!("{label}.capability"));
        test
    });
    tests.collect()
}

fn kept_again(entry: &Rotten, names: &mut Names) -> TestCase {
    let mut description = format!("reason: {}\n\nkept:", one_line(&entry.reason));
    for case in &entry.kept {
        description.push('\n');
        description.push_str(&one_line(case));
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(rotten::observed(entry)).set_type("kept again").set_description(description);
    let mut test = TestCase::new(names.unique(rotten::name(entry)), status);
    test.set_classname("known-failing");
    test
}

/// What a developer needs to see the violation and to run it again.
fn description(case: &Case) -> String {
    let mut text = lines(&case.detail);
    if !case.evidence.is_empty() {
        text.push_str("\n\nevidence:");
        for line in &case.evidence {
            text.push('\n');
            text.push_str(&one_line(line));
        }
    }
    text.push_str(&format!("\n\nlevel: {}\nseed: {}", case.level, case.seed));
    if let Some((with_outcome, of)) = case.repeated() {
        text.push_str(&format!("\nrepeats: {with_outcome} of {of} {}", case.outcome));
    }
    for (name, value) in [("history", &case.history), ("replay", &case.replay)] {
        if let Some(value) = value {
            text.push_str(&format!("\n{name}: {}", one_line(value)));
        }
    }
    text
}

/// The identity of the engine, and what the results depend on.
fn properties(run: &Run, engine: &EngineRun) -> Vec<(String, String)> {
    let mut properties: Vec<(String, String)> = Vec::new();
    let mut add = |name: String, value: &str| {
        if !value.is_empty() {
            properties.push((one_line(&name), one_line(value)));
        }
    };
    add("engine".to_owned(), &engine.name);
    add("requested".to_owned(), &engine.requested);
    add("version".to_owned(), &engine.version);
    add("provider".to_owned(), &engine.provider);
    add("isolation".to_owned(), &engine.isolation);
    add("clock".to_owned(), &engine.clock);
    if let Some(tls) = engine.tls {
        add("tls".to_owned(), if tls { "on" } else { "off" });
    }
    if let Some(image) = &engine.image {
        add("image".to_owned(), &image.name);
        add("image.digest".to_owned(), &image.digest);
    }
    for (name, value) in &engine.durability {
        add(format!("durability.{name}"), value);
    }
    for (name, state) in &engine.capabilities {
        add(format!("capability.{name}"), state.as_str());
    }
    add("leaseproof.version".to_owned(), &run.tool.version);
    add("leaseproof.matrix".to_owned(), &run.matrix_name);
    add("leaseproof.seed".to_owned(), &run.seed.to_string());
    properties
}

/// A suite without test cases would be green in every reader.
fn nothing_ran(label: &str, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(message).set_type(Outcome::Errored.as_str());
    let mut test = TestCase::new(format!("run [{label}]"), status);
    test.set_classname(format!("{label}.run"));
    test
}

/// The names that are taken.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// `name`, or `name` with a number when it is taken.
    fn unique(&mut self, name: String) -> String {
        let mut candidate = name.clone();
        let mut number = 1;
        while !self.0.insert(candidate.clone()) {
            number += 1;
            candidate = format!("{name} #{number}");
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapabilityState, EngineStatus, sample};

    #[test]
    fn a_report_in_which_nothing_ran_is_never_green() {
        let mut run = sample::kept();
        run.cases.clear();
        assert!(render(&run).contains(r#"tests="4" skipped="0" failures="0" errors="4""#));
        run.engines.clear();
        assert!(render(&run).contains(r#"errors="1""#));
    }

    #[test]
    fn a_missing_engine_is_one_error() {
        let mut run = sample::kept();
        run.engines[1].status = EngineStatus::Missing;
        for case in &mut run.cases {
            if case.engine == "mysql:9.7" {
                case.outcome = Outcome::Missing;
            }
        }
        let xml = render(&run);
        assert!(xml.contains(r#"tests="13" skipped="3" failures="0" errors="1""#), "{xml}");
        assert!(xml.contains(r#"name="provide [mysql:9.7]""#), "{xml}");
    }

    #[test]
    fn a_known_failure_is_skipped_with_its_reason() {
        let mut run = sample::kept();
        let case = &mut run.cases[0];
        case.outcome = Outcome::Broken;
        case.known = Some("the clause is\nignored".to_owned());
        let xml = render(&run);
        assert!(xml.contains(r#"tests="12" skipped="1" failures="0" errors="0""#), "{xml}");
        let message = "known failure: the clause is ignored: one of two claims won";
        assert!(xml.contains(&format!(r#"<skipped message="{message}" type="broken"/>"#)), "{xml}");
    }

    #[test]
    fn a_known_failure_that_is_kept_again_is_a_failure() {
        let mut run = sample::kept();
        let entry = Rotten {
            entry: "sqlite: claim/*".to_owned(),
            reason: "it is known".to_owned(),
            kept: vec![run.cases[3].key()],
        };
        run.rotten = vec![entry];
        let xml = render(&run);
        assert!(xml.contains(r#"tests="13" skipped="0" failures="1" errors="0""#), "{xml}");
        assert!(xml.contains(r#"name="known-failing [sqlite: claim/*]""#), "{xml}");
    }

    #[test]
    fn a_false_declaration_is_an_error_even_when_every_case_is_kept() {
        let mut run = sample::kept();
        let absent = CapabilityState::probed(true, false, "the second session waited");
        run.engines[0].capabilities.insert("nowait".to_owned(), absent);
        let xml = render(&run);
        assert!(xml.contains(r#"tests="13" skipped="0" failures="0" errors="1""#), "{xml}");
        assert!(xml.contains(r#"name="capability nowait [postgres:18]""#), "{xml}");
        assert!(xml.contains(r#"value="no, but declared""#), "{xml}");
    }

    #[test]
    fn names_are_unique_even_in_a_report_that_is_not_valid() {
        let mut run = sample::kept();
        run.cases.push(run.cases[0].clone());
        let xml = render(&run);
        assert!(xml.contains(r#"name="claim/is-exclusive [postgres:18 default] #2""#), "{xml}");
    }
}
