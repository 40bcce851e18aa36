//! Which engine of one run is which of the other, and how their setup differs.

use std::collections::BTreeMap;

use super::Incomparable;

/// An engine in one run.
pub(super) struct Named<'run> {
    /// What cases name it by.
    pub(super) label: &'run str,
    /// The engine itself, whatever its version.
    pub(super) name: &'run str,
}

/// The engines of both runs in pairs of labels, in the order of the base.
///
/// A label that is in both is one engine; of the rest, two versions of the same engine are a pair
/// when neither run has more than one, as before and after an upgrade.
pub(super) fn pairs<'run>(
    base: &[Named<'run>],
    head: &[Named<'run>],
) -> Result<Vec<(&'run str, &'run str)>, Incomparable> {
    let has = |engines: &[Named<'_>], label: &str| engines.iter().any(|other| other.label == label);
    let mut pairs = Vec::new();
    for engine in base {
        if has(head, engine.label) {
            pairs.push((engine.label, engine.label));
            continue;
        }
        let alone = |engines: &[Named<'run>], others: &[Named<'run>]| {
            let mut rest = engines
                .iter()
                .filter(|other| other.name == engine.name && !has(others, other.label))
                .map(|other| other.label);
            rest.next().filter(|_| rest.next().is_none())
        };
        if let (Some(_), Some(label)) = (alone(base, head), alone(head, base)) {
            pairs.push((engine.label, label));
        }
    }
    if pairs.is_empty() {
        let labels = |engines: &[Named<'_>]| {
            engines.iter().map(|engine| engine.label).collect::<Vec<_>>().join(", ")
        };
        return Err(Incomparable::Engines { base: labels(base), head: labels(head) });
    }
    Ok(pairs)
}

/// How two maps of settings differ, a fragment each: `fsync on → off`.
pub(super) fn differences(
    base: &BTreeMap<String, String>,
    head: &BTreeMap<String, String>,
) -> Vec<String> {
    let both = base.iter().filter_map(|(name, value)| Some((name, value, head.get(name)?)));
    let changed = both.filter(|(_, before, after)| before != after);
    changed.map(|(name, before, after)| format!("{name} {before} → {after}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'run>(labels: &[&'run str]) -> Vec<Named<'run>> {
        let named = |label: &&'run str| Named { label, name: label.split(':').next().unwrap() };
        labels.iter().map(named).collect()
    }

    #[test]
    fn an_upgrade_is_a_pair_and_other_engines_are_not() {
        let of = |base: &[&'static str], head: &[&'static str]| pairs(&named(base), &named(head));
        assert_eq!(of(&["a:1", "b"], &["b", "a:1"]).unwrap(), [("a:1", "a:1"), ("b", "b")]);
        assert_eq!(of(&["a:1"], &["a:2", "b"]).unwrap(), [("a:1", "a:2")]);
        assert_eq!(of(&["a:1", "b"], &["a:2", "a:3", "b"]).unwrap(), [("b", "b")]);
        assert_eq!(of(&["a:1", "a:2"], &["a:2", "a:3"]).unwrap(), [("a:1", "a:3"), ("a:2", "a:2")]);
        let error = of(&["a:1"], &["b:1"]).unwrap_err().to_string();
        assert!(error.contains("a:1 against b:1"), "{error}");
    }

    #[test]
    fn only_what_both_say_can_differ() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let changed = differences(&map(&[("a", "1"), ("b", "2")]), &map(&[("a", "3"), ("c", "4")]));
        assert_eq!(changed, ["a 1 → 3"]);
    }
}
