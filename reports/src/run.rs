//! What is derived from the cases of a run: counts, look-ups, and the merging of repeats.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, mem,
};

use crate::{Case, EngineRun, Outcome, Run, Summary};

/// What stands between two values that one observation had in different repeats.
const OR: &str = " / ";

impl Summary {
    /// What `cases` and `engines` add up to; every outcome has a count.
    #[must_use]
    pub fn of(cases: &[Case], engines: &[EngineRun]) -> Self {
        let mut counts: BTreeMap<_, _> = Outcome::ALL.map(|outcome| (outcome, 0)).into();
        for case in cases {
            *counts.entry(case.outcome).or_insert(0) += 1;
        }
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            counts,
            missing_engines: count(engines.iter().filter(|engine| engine.is_missing()).count()),
            total: count(cases.len()),
            known: count(cases.iter().filter(|case| case.is_known_failure()).count()),
        }
    }

    /// How many cases had `outcome`.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> u32 {
        self.counts.get(&outcome).copied().unwrap_or(0)
    }

    /// Whether both say the same; an absent count is a count of 0.
    #[must_use]
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.total == other.total
            && self.missing_engines == other.missing_engines
            && self.known == other.known
            && Outcome::ALL.iter().all(|outcome| self.count(*outcome) == other.count(*outcome))
    }

    /// The worst outcome of the run, or `None` when it has no cases.
    #[must_use]
    pub fn worst(&self) -> Option<Outcome> {
        Outcome::worst(Outcome::ALL.into_iter().filter(|outcome| self.count(*outcome) > 0))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.total, if self.total == 1 { "case" } else { "cases" })?;
        for outcome in Outcome::WORST_FIRST {
            match self.count(outcome) {
                0 => {}
                count => write!(formatter, ", {count} {outcome}")?,
            }
        }
        match self.known {
            0 => {}
            1 => formatter.write_str(", 1 known failure")?,
            known => write!(formatter, ", {known} known failures")?,
        }
        match self.missing_engines {
            0 => Ok(()),
            1 => formatter.write_str(", 1 engine missing"),
            engines => write!(formatter, ", {engines} engines missing"),
        }
    }
}

impl Run {
    /// The engine with the label `label`.
    #[must_use]
    pub fn engine(&self, label: &str) -> Option<&EngineRun> {
        self.engines.iter().find(|engine| engine.label == label)
    }

    /// The case with the key `key`, as [`Case::key`] makes it.
    #[must_use]
    pub fn case(&self, key: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.key() == key)
    }

    /// Whether `case` is missing because its whole engine is, which the engine says better.
    pub(crate) fn is_covered_by_engine(&self, case: &Case) -> bool {
        case.outcome == Outcome::Missing
            && self.engine(&case.engine).is_some_and(EngineRun::is_missing)
    }

    /// The variants of each contract on each engine, by [`Case::place`], in the order of the run.
    pub(crate) fn variants(&self) -> BTreeMap<(&str, &str), Vec<&str>> {
        let mut variants: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for case in &self.cases {
            variants.entry(case.place()).or_default().push(&case.variant);
        }
        variants
    }

    /// The cases of the engine with the label `engine`, in the order of the run.
    pub fn cases_of<'run>(&'run self, engine: &'run str) -> impl Iterator<Item = &'run Case> {
        self.cases.iter().filter(move |case| case.engine == engine)
    }
}

/// Merges the repeats of a case into one case, in the order in which the cases first occur.
///
/// The worst outcome wins and brings its own detail, seed, evidence, history, replay and reason;
/// the first of several equally bad ones is kept. Durations are summed and outcomes counted, and
/// observations that differ are all kept, sorted. Merging what is already merged changes nothing.
#[must_use]
pub fn merge_repeats(cases: Vec<Case>) -> Vec<Case> {
    let mut merged: Vec<Case> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for mut case in cases {
        if case.repeats.is_empty() {
            case.repeats.insert(case.outcome, 1);
        }
        let place = *places.entry(case.key()).or_insert(merged.len());
        match merged.get_mut(place) {
            Some(earlier) => absorb(earlier, case),
            None => merged.push(case),
        }
    }
    merged
}

fn absorb(earlier: &mut Case, later: Case) {
    let duration_ms = earlier.duration_ms.saturating_add(later.duration_ms);
    let mut repeats = mem::take(&mut earlier.repeats);
    for (outcome, count) in &later.repeats {
        let sum = repeats.entry(*outcome).or_insert(0);
        *sum = sum.saturating_add(*count);
    }
    let mut observations = mem::take(&mut earlier.observations);
    for (key, value) in &later.observations {
        let seen = observations.entry(key.clone()).or_insert_with(|| value.clone());
        *seen = either(seen, value);
    }
    if later.outcome.severity() > earlier.outcome.severity() {
        *earlier = later;
    }
    earlier.duration_ms = duration_ms;
    earlier.repeats = repeats;
    earlier.observations = observations;
}

/// Each of the values once, sorted, because the order of repeats says nothing.
fn either(seen: &str, value: &str) -> String {
    let values: BTreeSet<&str> = seen.split(OR).chain(value.split(OR)).collect();
    values.into_iter().collect::<Vec<_>>().join(OR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn repeat(id: &str, outcome: Outcome, seed: u64) -> Case {
        let mut case = sample::case(id, "postgres:18", outcome);
        case.repeats.clear();
        case.seed = seed;
        case.detail = format!("seed {seed}");
        case.history = Some(format!("histories/{seed}.json"));
        case
    }

    #[test]
    fn the_worst_repeat_wins_and_the_first_of_equals_is_kept() {
        let merged = merge_repeats(vec![
            repeat("b/x", Outcome::Kept, 1),
            repeat("a/x", Outcome::Kept, 2),
            repeat("b/x", Outcome::Broken, 3),
            repeat("b/x", Outcome::Broken, 4),
            repeat("b/x", Outcome::Errored, 5),
        ]);
        assert_eq!(merged.iter().map(|case| case.id.as_str()).collect::<Vec<_>>(), ["b/x", "a/x"]);
        let worst = &merged[0];
        assert_eq!((worst.outcome, worst.seed), (Outcome::Broken, 3));
        assert_eq!(worst.history.as_deref(), Some("histories/3.json"));
        assert_eq!(worst.duration_ms, 4 * 12);
        let counts = [(Outcome::Kept, 1), (Outcome::Broken, 2), (Outcome::Errored, 1)];
        assert_eq!(worst.repeats, counts.into());
        assert_eq!(merge_repeats(merged.clone()), merged);
    }

    #[test]
    fn what_any_repeat_observed_is_kept() {
        let mut repeats = [Outcome::Kept, Outcome::Broken, Outcome::Kept]
            .map(|outcome| repeat("a/x", outcome, 1));
        for (case, loser) in repeats.iter_mut().zip(["zero rows", "40001", "zero rows"]) {
            case.observations.insert(Case::LOSER.to_owned(), loser.to_owned());
        }
        repeats[1].known = Some("it is known".to_owned());
        repeats[2].observations.insert("waited".to_owned(), "yes".to_owned());
        let merged = merge_repeats(repeats.to_vec());
        assert_eq!(merged[0].observations[Case::LOSER], "40001 / zero rows");
        assert_eq!(merged[0].observations["waited"], "yes");
        assert!(merged[0].is_known_failure());
        assert_eq!(merge_repeats(merged.clone()), merged);
    }

    #[test]
    fn variants_and_engines_are_not_repeats() {
        let one = repeat("a/x", Outcome::Kept, 1);
        let mut two = one.clone();
        two.variant = "skip-locked".to_owned();
        let mut three = one.clone();
        three.engine = "mysql:9.7".to_owned();
        assert_eq!(merge_repeats(vec![one, two, three]).len(), 3);
    }

    #[test]
    fn a_summary_counts_and_says_it() {
        let run = sample::hostile();
        let summary = Summary::of(&run.cases, &run.engines);
        assert_eq!(summary.counts.len(), Outcome::ALL.len());
        assert_eq!(summary.total as usize, run.cases.len());
        assert_eq!(summary.worst(), Some(Outcome::Broken));
        assert!(summary.to_string().ends_with(", 1 engine missing"), "{summary}");
        assert_eq!(Summary::of(&[], &[]).to_string(), "0 cases");
        assert_eq!(Summary::of(&[], &[]).worst(), None);
    }

    #[test]
    fn look_ups_find_what_is_there() {
        let run = sample::kept();
        assert_eq!(run.cases_of("sqlite").count(), 3);
        assert_eq!(run.cases_of("oracle:23").count(), 0);
        assert!(run.case("claim/is-exclusive/sqlite/default").is_some());
        assert!(run.engine("oracle:23").is_none());
    }
}
