//! What became of each case: broke, fixed, appeared, vanished, or answers its losers differently.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    Incomparable, Verdict,
    engines::{Named, differences, pairs},
};
use crate::{Case, Level, Outcome, Run};

/// How the contracts of two runs compare.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contracts {
    /// How many cases are in both runs.
    pub compared: usize,
    /// How many of them were decided in both; where none was, nothing is known.
    pub decided: usize,
    /// How many of them ended the same and told their losers the same.
    pub unchanged: usize,
    /// What changed, the worst first.
    pub changes: Vec<CaseChange>,
}

/// One case that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseChange {
    /// What became of it.
    pub change: Change,
    /// The id of the contract.
    pub contract: String,
    /// The label of the engine, in the head where it is there.
    pub engine: String,
    /// The variant.
    pub variant: String,
    /// How it ended in the base.
    pub base: Option<Outcome>,
    /// How it ended in the head.
    pub head: Option<Outcome>,
    /// What was observed, in the head where it is there.
    pub detail: String,
    /// Why it is a known failure in the head, when it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// What it does to the verdict.
    pub weighs: Verdict,
    /// The command that runs it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// What became of a case, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It was not broken and is.
    Broke,
    /// It was kept and the engine lacks the capability now.
    BecameUnsupported,
    /// It could not be decided, whatever it was before.
    Undecided,
    /// It was there and is not.
    Vanished,
    /// It ended the same, and the loser of the race is told something else.
    LoserChanged,
    /// It was not there and is.
    Appeared,
    /// It was not kept and is.
    Fixed,
}

impl Change {
    /// Every change, the worst first.
    pub const ALL: [Self; 7] = [
        Self::Broke,
        Self::BecameUnsupported,
        Self::Undecided,
        Self::Vanished,
        Self::LoserChanged,
        Self::Appeared,
        Self::Fixed,
    ];

    /// The words of every format.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broke => "broke",
            Self::BecameUnsupported => "became unsupported",
            Self::Undecided => "undecided",
            Self::Vanished => "vanished",
            Self::LoserChanged => "loser changed",
            Self::Appeared => "appeared",
            Self::Fixed => "fixed",
        }
    }
}

impl Contracts {
    /// What the changes amount to.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let known = if self.decided > 0 { Verdict::Fine } else { Verdict::Inconclusive };
        self.changes.iter().map(|change| change.weighs).fold(known, Verdict::max)
    }

    /// How many cases had `change`.
    #[must_use]
    pub fn count(&self, change: Change) -> usize {
        self.changes.iter().filter(|other| other.change == change).count()
    }
}

pub(super) fn compare(
    base: &Run,
    head: &Run,
    notes: &mut Vec<String>,
) -> Result<Contracts, Incomparable> {
    let pairs = pairs(&named(base), &named(head))?;
    note(base, head, &pairs, notes);
    let in_head: BTreeMap<&str, &str> = pairs.iter().copied().collect();
    let mut rest: BTreeMap<(&str, &str, &str), &Case> =
        head.cases.iter().map(|case| (key(case, &case.engine), case)).collect();
    let mut contracts = Contracts::default();
    for before in &base.cases {
        let label = in_head.get(before.engine.as_str()).copied().unwrap_or(&before.engine);
        let after = rest.remove(&key(before, label));
        contracts.compared += usize::from(after.is_some());
        let is_decided = |case: &Case| is_decided(case.outcome);
        contracts.decided += usize::from(is_decided(before) && after.is_some_and(is_decided));
        match change(Some(before), after) {
            Some(change) => contracts.changes.push(case_change(change, Some(before), after)),
            None => contracts.unchanged += 1,
        }
    }
    for after in head.cases.iter().filter(|case| rest.contains_key(&key(case, &case.engine))) {
        contracts.changes.push(case_change(Change::Appeared, None, Some(after)));
    }
    contracts.changes.sort_by_key(|change| (std::cmp::Reverse(change.weighs), change.change));
    if contracts.decided == 0 {
        notes.push("no case was decided in both runs".to_owned());
    }
    Ok(contracts)
}

/// What the contracts of a head amount to that has nothing beside it.
pub(super) fn alone(head: &Run) -> Verdict {
    let broken = head.cases.iter().filter(|case| case.outcome == Outcome::Broken);
    match broken.clone().any(|case| case.level != Level::Provisional && !case.is_known_failure()) {
        true => Verdict::Worse,
        false => Verdict::Inconclusive,
    }
}

fn named(run: &Run) -> Vec<Named<'_>> {
    run.engines.iter().map(|engine| Named { label: &engine.label, name: &engine.name }).collect()
}

fn key<'run>(case: &'run Case, label: &'run str) -> (&'run str, &'run str, &'run str) {
    (&case.id, label, &case.variant)
}

/// What the runs differ in beside their results.
fn note(base: &Run, head: &Run, pairs: &[(&str, &str)], notes: &mut Vec<String>) {
    if base.tool.version != head.tool.version {
        let (before, after) = (&base.tool.version, &head.tool.version);
        notes.push(format!("the suite differs: leaseproof {before} → {after}"));
    }
    if base.matrix_name != head.matrix_name {
        let (before, after) = (&base.matrix_name, &head.matrix_name);
        notes.push(format!("the selection of variants differs: {before} → {after}"));
    }
    for (before, after) in pairs {
        let (Some(before), Some(after)) = (base.engine(before), head.engine(after)) else {
            continue;
        };
        let mut changes = Vec::new();
        if before.version != after.version {
            changes.push(format!("version {} → {}", before.version, after.version));
        }
        if before.isolation != after.isolation {
            changes.push(format!("isolation {} → {}", before.isolation, after.isolation));
        }
        changes.extend(differences(&before.durability, &after.durability));
        changes.extend(differences(&before.settings, &after.settings));
        if !changes.is_empty() {
            notes.push(format!("{} differs: {}", after.label, changes.join(", ")));
        }
    }
}

fn change(before: Option<&Case>, after: Option<&Case>) -> Option<Change> {
    let (before, after) = match (before, after) {
        (None, _) => return Some(Change::Appeared),
        (_, None) => return Some(Change::Vanished),
        (Some(before), Some(after)) => (before, after),
    };
    if before.outcome == after.outcome && is_open(after.outcome) {
        // What was not known before is not known to be the same.
        return Some(Change::Undecided);
    }
    if before.outcome == after.outcome {
        let told = |case: &Case| case.observations.get(Case::LOSER).cloned();
        let (before, after) = (told(before), told(after));
        return (before.is_some() && after.is_some() && before != after)
            .then_some(Change::LoserChanged);
    }
    Some(match after.outcome {
        Outcome::Broken => Change::Broke,
        Outcome::Kept => Change::Fixed,
        Outcome::Unsupported => Change::BecameUnsupported,
        _ => Change::Undecided,
    })
}

fn case_change(change: Change, before: Option<&Case>, after: Option<&Case>) -> CaseChange {
    let case = after.or(before).expect("a change is one of a case");
    let known = after.and_then(|case| case.known.clone().filter(|_| case.is_known_failure()));
    let ran = before.is_some_and(|case| is_decided(case.outcome) || is_open(case.outcome));
    let was_kept = before.is_some_and(|case| case.outcome == Outcome::Kept);
    let counts = case.level != Level::Provisional && known.is_none();
    let weighs = match change {
        _ if !counts => Verdict::Fine,
        Change::Broke => Verdict::Worse,
        Change::Appeared if case.outcome == Outcome::Broken => Verdict::Worse,
        Change::Appeared | Change::Undecided if is_open(case.outcome) => Verdict::Inconclusive,
        Change::BecameUnsupported if was_kept => Verdict::Worse,
        // What ran and could not tell was not fine either.
        Change::Undecided | Change::Vanished if ran => Verdict::Inconclusive,
        _ => Verdict::Fine,
    };
    let told =
        |case: Option<&Case>| case.and_then(|case| case.observations.get(Case::LOSER)).cloned();
    let detail = match change {
        Change::LoserChanged => {
            format!("{} → {}", told(before).unwrap_or_default(), told(after).unwrap_or_default())
        }
        _ => case.detail.clone(),
    };
    CaseChange {
        change,
        contract: case.id.clone(),
        engine: case.engine.clone(),
        variant: case.variant.clone(),
        base: before.map(|case| case.outcome),
        head: after.map(|case| case.outcome),
        detail,
        known,
        weighs,
        replay: after.and_then(|case| case.replay.clone()),
    }
}

/// Whether a case ran and could not tell.
fn is_open(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Inconclusive | Outcome::Errored)
}

fn is_decided(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Kept | Outcome::Broken | Outcome::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn changed(change: impl FnOnce(&mut Run)) -> Contracts {
        let base = sample::kept();
        let mut head = sample::kept();
        change(&mut head);
        compare(&base, &head, &mut Vec::new()).unwrap()
    }

    fn one(change: impl FnOnce(&mut Run)) -> (Change, Verdict) {
        let contracts = changed(change);
        assert_eq!(contracts.changes.len(), 1, "{contracts:?}");
        assert_eq!(contracts.unchanged, 11);
        (contracts.changes[0].change, contracts.verdict())
    }

    #[test]
    fn a_run_equals_itself() {
        let contracts = changed(|_| {});
        assert_eq!((contracts.compared, contracts.unchanged), (12, 12));
        assert_eq!(contracts.verdict(), Verdict::Fine);
    }

    #[test]
    fn what_is_worse_is_told_from_what_is_not_known() {
        let outcome = |outcome| one(|run| run.cases[0].outcome = outcome);
        assert_eq!(outcome(Outcome::Broken), (Change::Broke, Verdict::Worse));
        assert_eq!(outcome(Outcome::Unsupported), (Change::BecameUnsupported, Verdict::Worse));
        assert_eq!(outcome(Outcome::Inconclusive), (Change::Undecided, Verdict::Inconclusive));
        assert_eq!(outcome(Outcome::Missing), (Change::Undecided, Verdict::Inconclusive));
        let vanished = one(|run| drop(run.cases.remove(0)));
        assert_eq!(vanished, (Change::Vanished, Verdict::Inconclusive));
    }

    #[test]
    fn what_no_run_could_tell_is_not_the_same() {
        let outcome = |base: Outcome, head: Outcome| {
            let with = |outcome| {
                let mut run = sample::kept();
                run.cases.truncate(2);
                run.cases[0].outcome = outcome;
                run
            };
            let contracts = compare(&with(base), &with(head), &mut Vec::new()).unwrap();
            (contracts.changes.len(), contracts.verdict())
        };
        use Outcome::{Errored, Inconclusive, Kept, Missing};
        assert_eq!(outcome(Errored, Errored), (1, Verdict::Inconclusive));
        assert_eq!(outcome(Inconclusive, Inconclusive), (1, Verdict::Inconclusive));
        assert_eq!(outcome(Missing, Inconclusive), (1, Verdict::Inconclusive));
        assert_eq!(outcome(Inconclusive, Kept), (1, Verdict::Fine));
        // An engine that nobody has is told of by the runs themselves.
        assert_eq!(outcome(Missing, Missing), (0, Verdict::Fine));
    }

    #[test]
    fn where_nothing_was_decided_nothing_is_fine() {
        let missing = || {
            let mut run = sample::kept();
            run.cases.iter_mut().for_each(|case| case.outcome = Outcome::Missing);
            run
        };
        let mut notes = Vec::new();
        let contracts = compare(&missing(), &missing(), &mut notes).unwrap();
        assert_eq!((contracts.decided, contracts.verdict()), (0, Verdict::Inconclusive));
        assert_eq!(notes, ["no case was decided in both runs"]);
    }

    #[test]
    fn what_appears_broken_is_worse() {
        let head = sample::kept();
        let mut base = sample::kept();
        let mut broken = head.clone();
        base.cases.remove(0);
        let fine = compare(&base, &head, &mut Vec::new()).unwrap();
        assert_eq!((fine.changes[0].change, fine.verdict()), (Change::Appeared, Verdict::Fine));
        broken.cases[0].outcome = Outcome::Broken;
        let worse = compare(&base, &broken, &mut Vec::new()).unwrap();
        assert_eq!((worse.changes[0].change, worse.verdict()), (Change::Appeared, Verdict::Worse));
    }

    #[test]
    fn known_and_provisional_failures_do_not_count() {
        let known = one(|run| {
            run.cases[0].outcome = Outcome::Broken;
            run.cases[0].known = Some("it is known".to_owned());
        });
        assert_eq!(known, (Change::Broke, Verdict::Fine));
        let provisional = one(|run| {
            run.cases[0].outcome = Outcome::Broken;
            run.cases[0].level = Level::Provisional;
        });
        assert_eq!(provisional, (Change::Broke, Verdict::Fine));
    }

    #[test]
    fn an_upgrade_is_compared_with_what_was_before() {
        let mut notes = Vec::new();
        let base = sample::kept();
        let mut head = sample::kept();
        head.engines[0].label = "postgres:19".to_owned();
        head.engines[0].version = "PostgreSQL 19.0".to_owned();
        for case in head.cases.iter_mut().filter(|case| case.engine == "postgres:18") {
            case.engine = "postgres:19".to_owned();
        }
        head.cases[0].outcome = Outcome::Broken;
        let contracts = compare(&base, &head, &mut notes).unwrap();
        assert_eq!((contracts.compared, contracts.changes.len()), (12, 1));
        assert_eq!(contracts.changes[0].engine, "postgres:19");
        assert_eq!(notes, ["postgres:19 differs: version PostgreSQL 18.1 → PostgreSQL 19.0"]);
    }

    #[test]
    fn what_the_loser_is_told_is_compared() {
        let (mut base, mut head) = (sample::full(), sample::full());
        for run in [&mut base, &mut head] {
            run.cases.retain(|case| is_decided(case.outcome));
        }
        let case = base.cases.iter_mut().find(|case| case.observations.contains_key(Case::LOSER));
        case.unwrap().observations.insert(Case::LOSER.to_owned(), "55P03".to_owned());
        let contracts = compare(&base, &head, &mut Vec::new()).unwrap();
        assert_eq!(contracts.changes[0].change, Change::LoserChanged);
        assert_eq!(contracts.changes[0].detail, "55P03 → zero rows");
        assert_eq!(contracts.verdict(), Verdict::Fine);
    }
}
