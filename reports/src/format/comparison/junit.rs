//! The comparison as JUnit XML: what is worse is a failure, what cannot be told is an error.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{became, place, row};
use crate::{
    bench::words,
    compare::{Comparison, Contracts, Judgement, Measurements, Verdict},
    format::text::one_line,
};

/// Renders `comparison` as JUnit XML: a test case per change, and one per metric that was judged.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let mut report = Report::new("leaseproof compare");
    if let Some(found) = &comparison.contracts {
        report.add_test_suite(contracts(found));
    }
    if let Some(found) = &comparison.measurements {
        report.add_test_suite(measurements(found));
    }
    report.add_test_suite(verdict(comparison));
    report.to_string().expect("XML is written to memory, from text that is UTF-8")
}

/// What it amounts to, which notes may decide alone.
fn verdict(comparison: &Comparison) -> TestSuite {
    let mut suite = TestSuite::new("verdict");
    let mut status = status(comparison.verdict);
    if comparison.verdict != Verdict::Fine {
        let lines = [one_line(&super::verdict(comparison))];
        let notes = comparison.notes.iter().map(|note| one_line(note));
        let lines: Vec<String> = lines.into_iter().chain(notes).collect();
        status.set_message(lines.join("; ")).set_type(comparison.verdict.as_str());
    }
    let mut test = TestCase::new("the comparison as a whole", status);
    test.set_classname("compare.verdict");
    suite.add_test_case(test);
    suite
}

fn contracts(contracts: &Contracts) -> TestSuite {
    let mut suite = TestSuite::new("contracts");
    let same = format!("{} cases are the same", contracts.unchanged);
    suite.add_test_case(TestCase::new(same, TestCaseStatus::success()));
    for change in &contracts.changes {
        let mut status = status(change.weighs);
        status.set_message(format!("{}: {}", change.change.as_str(), became(change)));
        status.set_type(change.change.as_str());
        let mut test = TestCase::new(place(change), status);
        test.set_classname(format!("compare.{}", one_line(&change.engine)));
        suite.add_test_case(test);
    }
    suite
}

fn measurements(measurements: &Measurements) -> TestSuite {
    let mut suite = TestSuite::new("measurements");
    for cell in &measurements.cells {
        let mut status = status(cell.weighs);
        status.set_message(one_line(&cell.change)).set_type("cell");
        let mut test = TestCase::new(one_line(&cell.cell), status);
        test.set_classname("compare.cells");
        suite.add_test_case(test);
    }
    for metric in &measurements.metrics {
        let mut status = match metric.judgement {
            Judgement::Worse => status(Verdict::Worse),
            Judgement::Inconclusive => status(Verdict::Inconclusive),
            Judgement::NotWorse | Judgement::Better | Judgement::Equal => status(Verdict::Fine),
            Judgement::Shown => continue,
        };
        let [word, _, _, base, head, change, trust] = row(metric);
        status.set_message(format!("{word}: {base} → {head}, {change}; {trust}")).set_type(word);
        let name = format!("{} {}", one_line(&metric.cell), one_line(&words(&metric.metric)));
        let mut test = TestCase::new(name, status);
        test.set_classname("compare.metrics");
        suite.add_test_case(test);
    }
    if suite.tests == 0 {
        // A suite without test cases would be green in every reader.
        let mut status = status(Verdict::Inconclusive);
        status.set_message("no cell was compared");
        suite.add_test_case(TestCase::new("measurements", status));
    }
    suite
}

fn status(verdict: Verdict) -> TestCaseStatus {
    match verdict {
        Verdict::Fine => TestCaseStatus::success(),
        Verdict::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Error),
        Verdict::Worse => TestCaseStatus::non_success(NonSuccessKind::Failure),
    }
}
