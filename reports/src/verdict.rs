//! The one line that says how a run ended.

use std::collections::BTreeSet;

use crate::{Case, Contradiction, Outcome, Run};

/// How many places of broken cases the line names before it only counts them.
const NAMED: usize = 3;

impl Run {
    /// How the run ended, in one line of plain text without a full stop.
    ///
    /// Text of an engine can be in it, so a rendering escapes it like any other text.
    #[must_use]
    pub fn verdict(&self) -> String {
        let missing: Vec<&str> = self
            .engines
            .iter()
            .filter(|engine| engine.is_missing())
            .map(|engine| engine.label.as_str())
            .collect();
        let part = self.shard.as_ref();
        let part = part.map(|shard| format!("shard {} of {}, ", shard.index, shard.count));
        let mut line = format!(
            "{}{}, {}: ",
            part.unwrap_or_default(),
            counted(self.engines.len() - missing.len(), "engine"),
            counted(self.matrix().rows.len(), "contract"),
        );
        line.push_str(&self.verdict_on_cases());
        match self.rotten.len() {
            0 => {}
            1 => line.push_str("; 1 known failure is kept again"),
            count => line.push_str(&format!("; {count} known failures are kept again")),
        }
        match self.absent_capabilities() {
            0 => {}
            1 => line.push_str("; 1 declared capability is not there"),
            count => line.push_str(&format!("; {count} declared capabilities are not there")),
        }
        if let Some(partial) = &self.partial {
            let names = partial.missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            let (shards, are) =
                if partial.missing.len() == 1 { ("shard", "is") } else { ("shards", "are") };
            line.push_str(&format!(
                "; partial: {shards} {names} of {} {are} missing",
                partial.count
            ));
        }
        if !missing.is_empty() {
            line.push_str("; missing: ");
            line.push_str(&missing.join(", "));
        }
        line
    }

    fn verdict_on_cases(&self) -> String {
        // What a missing engine did not run is said by naming the engine.
        let (known, others): (Vec<&Case>, Vec<&Case>) = self
            .cases
            .iter()
            .filter(|case| !self.is_covered_by_engine(case))
            .partition(|case| case.is_known_failure());
        let known = (!known.is_empty()).then(|| counted(known.len(), "known failure"));
        let but = known.iter().map(|known| format!(" but {known}")).collect::<String>();
        let mut parts = counts(&others);
        let not_run = self.cells_without_case();
        let not_run = (not_run > 0).then(|| format!("{not_run} not run"));
        match Outcome::worst(others.iter().map(|case| case.outcome)) {
            None if known.is_none() => "nothing ran".to_owned(),
            None => {
                parts.push("nothing kept".to_owned());
                parts.extend(known.into_iter().chain(not_run));
                parts.join(", ")
            }
            Some(Outcome::Kept) if not_run.is_none() => format!("all kept{but}"),
            Some(Outcome::Unsupported | Outcome::Skipped) => {
                parts.extend(not_run);
                format!("none broken{but}, {}", parts.join(", "))
            }
            Some(_) => {
                parts.extend(known.into_iter().chain(not_run));
                parts.join(", ")
            }
        }
    }

    /// How many contracts have no case on an engine that was there, as after an interruption.
    fn cells_without_case(&self) -> usize {
        if self.shard.is_some() {
            // They may be in the other parts of the run, which is not to be known here.
            return 0;
        }
        let matrix = self.matrix();
        matrix.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.is_none()).count()
    }

    fn absent_capabilities(&self) -> usize {
        let contradictions = self.engines.iter().flat_map(|engine| engine.contradictions());
        contradictions.filter(|(how, ..)| *how == Contradiction::Absent).count()
    }
}

/// How many of `cases` had each outcome, the worst first.
fn counts(cases: &[&Case]) -> Vec<String> {
    let mut parts = Vec::new();
    for outcome in Outcome::WORST_FIRST {
        let of_outcome: Vec<&Case> =
            cases.iter().filter(|case| case.outcome == outcome).copied().collect();
        match (of_outcome.len(), outcome) {
            (0, _) => {}
            (count, Outcome::Broken) => {
                parts.push(format!("{count} broken ({})", places(&of_outcome)));
            }
            (count, _) => parts.push(format!("{count} {outcome}")),
        }
    }
    parts
}

/// The contracts and engines of `cases`, each pair once, whatever the number of its variants.
fn places(cases: &[&Case]) -> String {
    let mut seen = BTreeSet::new();
    let mut places: Vec<String> =
        cases.iter().map(|case| format!("{} on {}", case.id, case.engine)).collect();
    places.retain(|place| seen.insert(place.clone()));
    let mut named = places[..places.len().min(NAMED)].join(", ");
    if places.len() > NAMED {
        named.push_str(&format!(" and {} more", places.len() - NAMED));
    }
    named
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapabilityState, EngineStatus, Rotten, sample};

    #[test]
    fn a_run_that_kept_everything_says_so() {
        assert_eq!(sample::kept().verdict(), "4 engines, 3 contracts: all kept");
    }

    #[test]
    fn what_is_broken_is_named_first() {
        let mut run = sample::kept();
        run.cases[0].outcome = Outcome::Broken;
        run.cases[1].outcome = Outcome::Errored;
        assert_eq!(
            run.verdict(),
            "4 engines, 3 contracts: 1 broken (claim/is-exclusive on postgres:18), \
             1 errored, 10 kept"
        );
        for case in &mut run.cases {
            case.outcome = Outcome::Broken;
        }
        let verdict = run.verdict();
        assert!(verdict.ends_with(" and 9 more)"), "{verdict}");
    }

    #[test]
    fn variants_of_one_place_are_named_once() {
        let mut run = sample::kept();
        run.cases[0].outcome = Outcome::Broken;
        for number in 0..14 {
            let mut case = run.cases[0].clone();
            case.variant = format!("skip-locked {number}");
            run.cases.push(case);
        }
        assert_eq!(
            run.verdict(),
            "4 engines, 3 contracts: 15 broken (claim/is-exclusive on postgres:18), 11 kept"
        );
    }

    #[test]
    fn known_failures_are_counted_apart() {
        let mut run = sample::kept();
        let mut verdict = |change: fn(&mut Run)| {
            change(&mut run);
            run.verdict().split_once(": ").unwrap().1.to_owned()
        };
        let all_but_two = verdict(|run| {
            for case in &mut run.cases[..2] {
                case.outcome = Outcome::Broken;
                case.known = Some("it is known".to_owned());
            }
        });
        assert_eq!(all_but_two, "all kept but 2 known failures");
        let unsupported = verdict(|run| run.cases[2].outcome = Outcome::Unsupported);
        assert_eq!(unsupported, "none broken but 2 known failures, 1 unsupported, 9 kept");
        let broken = verdict(|run| run.cases[2].outcome = Outcome::Broken);
        assert_eq!(
            broken,
            "1 broken (claim/is-exclusive on mariadb:11.8), 9 kept, 2 known failures"
        );
        let nothing_else = verdict(|run| run.cases.truncate(1));
        assert_eq!(nothing_else, "nothing kept, 1 known failure, 11 not run");
    }

    #[test]
    fn what_fails_a_run_of_kept_cases_is_said() {
        let mut run = sample::kept();
        let rotten = Rotten {
            entry: "sqlite: claim/*".to_owned(),
            reason: "it is known".to_owned(),
            kept: vec![run.cases[3].key()],
        };
        run.rotten = vec![rotten];
        assert_eq!(
            run.verdict(),
            "4 engines, 3 contracts: all kept; 1 known failure is kept again"
        );
        let absent = CapabilityState::probed(true, false, "the second session waited");
        run.engines[0].capabilities.insert("skip-locked".to_owned(), absent);
        let verdict = run.verdict();
        assert!(verdict.ends_with("; 1 declared capability is not there"), "{verdict}");
    }

    #[test]
    fn a_missing_engine_is_never_passed_over() {
        let mut run = sample::kept();
        run.engines[1].status = EngineStatus::Missing;
        run.cases.retain(|case| case.engine != "mysql:9.7");
        assert_eq!(run.verdict(), "3 engines, 3 contracts: all kept; missing: mysql:9.7");
    }

    #[test]
    fn what_was_left_out_is_not_all_kept() {
        let mut run = sample::kept();
        run.cases[0].outcome = Outcome::Unsupported;
        let verdict = run.verdict();
        assert_eq!(verdict, "4 engines, 3 contracts: none broken, 1 unsupported, 11 kept");
        run.cases[0].outcome = Outcome::Kept;
        run.cases.pop();
        assert_eq!(run.verdict(), "4 engines, 3 contracts: 11 kept, 1 not run");
        run.cases.clear();
        assert!(run.verdict().contains("nothing ran"));
    }
}
