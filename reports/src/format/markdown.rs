//! The run as Markdown for people: the verdict, what is not kept, the matrix, what was seen, the
//! engines.
//!
//! Invariants: the verdict is the first line; the text stays under [`LIMIT_BYTES`], which is what
//! step summaries of CI services take; every section closes what it opens; text that came from
//! an engine can neither end a cell nor become HTML, a link or an image.

pub mod adopt;

mod engines;
pub(super) mod escape;
mod facts;
mod measurements;
mod observed;
pub(super) mod row;
mod section;

use super::text::clip;
use crate::{Report, Run};
use escape::text;

/// The greatest size of a summary, in bytes: 1,000 KiB, a little under what step summaries take.
pub const LIMIT_BYTES: usize = 1_000 * 1024;

/// The longest observation in a line of the summary, in characters; `run.json` has all of it.
const OBSERVED_CHARS: usize = 1_000;

/// The room kept for the sentence that says what was left out, in bytes.
const NOTE_BYTES: usize = 256;

/// The longest verdict, in characters; it names labels that come from the command line.
const VERDICT_CHARS: usize = 1_000;

/// Renders `run` as Markdown of less than [`LIMIT_BYTES`].
#[must_use]
pub fn render(run: &Run) -> String {
    render_within(run, LIMIT_BYTES)
}

/// Renders `run` as Markdown of at most `limit_bytes`, which must leave room for the verdict.
///
/// The sections are added from the top; one that does not fit is left out, and the last line
/// says so.
#[must_use]
pub fn render_within(run: &Run, limit_bytes: usize) -> String {
    let sections = [
        ("the known failures that are kept again", section::kept_again(run)),
        ("what is not kept", section::not_kept(run)),
        ("the known failures", section::known(run)),
        ("the matrix", section::matrix(run)),
        ("what the loser sees", observed::loser(run)),
        ("what else was observed", observed::other(run)),
        ("the measured facts", facts::facts(run)),
        ("the engines", engines::engines(run)),
        ("the run", section::run(run)),
    ];
    let sections = sections.map(|(name, section)| (name.to_owned(), section));
    assemble(&run.verdict(), sections.into(), limit_bytes)
}

/// Renders whatever a run directory holds as Markdown of less than [`LIMIT_BYTES`]: contracts
/// first, then measurements.
#[must_use]
pub fn render_report(report: Report<'_>) -> String {
    render_report_within(report, LIMIT_BYTES)
}

/// Renders whatever a run directory holds as Markdown of at most `limit_bytes`, which must leave
/// room for both verdicts.
#[must_use]
pub fn render_report_within(report: Report<'_>, limit_bytes: usize) -> String {
    let Some(bench) = report.bench else {
        return report.run.map(|run| render_within(run, limit_bytes)).unwrap_or_default();
    };
    let mut summary = String::new();
    if let Some(run) = report.run {
        summary = render_within(run, limit_bytes / 2);
        summary.push('\n');
    }
    let room = limit_bytes - summary.len();
    summary + &assemble(&bench.verdict(), measurements::sections(bench), room)
}

fn assemble(verdict: &str, sections: Vec<(String, String)>, limit_bytes: usize) -> String {
    let mut summary = format!("**{}**\n", text(&clip(verdict, VERDICT_CHARS)));
    let room = limit_bytes.saturating_sub(NOTE_BYTES);
    let mut left_out = Vec::new();
    for (name, section) in sections {
        if section.is_empty() {
            continue;
        }
        if summary.len() + 1 + section.len() <= room {
            summary.push('\n');
            summary.push_str(&section);
        } else {
            left_out.push(name);
        }
    }
    if !left_out.is_empty() {
        let names = clip(&left_out.join(", "), NOTE_BYTES / 2);
        summary.push_str(&format!(
            "\nLeft out to keep this summary under {} KiB: {names}. The JSON has everything.\n",
            limit_bytes / 1024,
        ));
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, sample};

    #[test]
    fn the_verdict_is_the_first_line() {
        let summary = render(&sample::kept());
        assert_eq!(summary.lines().next(), Some("**4 engines, 3 contracts: all kept**"));
        assert!(!summary.contains("Not kept"), "{summary}");
    }

    #[test]
    fn a_section_that_does_not_fit_is_left_out_and_named() {
        let mut run = sample::kept();
        for number in 0..3_000 {
            let mut case = sample::case(&format!("claim/x-{number}"), "sqlite", Outcome::Broken);
            case.detail = "|".repeat(2_000);
            run.cases.push(case);
        }
        let summary = render(&run);
        assert!(summary.len() < LIMIT_BYTES, "{} bytes", summary.len());
        assert!(summary.contains("under 1000 KiB: what is not kept."));
        assert!(summary.contains("## Engines") && summary.contains("## Contracts"));
    }

    #[test]
    fn every_limit_is_kept() {
        let run = sample::hostile();
        let whole = render(&run).len();
        for limit in (1_024..whole + 1_024).step_by(97) {
            let summary = render_within(&run, limit);
            assert!(summary.len() <= limit, "{} bytes of {limit}", summary.len());
            assert!(summary.contains("Left out") || summary.len() == whole);
        }
    }
}
