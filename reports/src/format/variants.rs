//! The variants that one line is about: a few, all that there are, or all that share a choice.

use super::text::one_line;

/// How many variants are always listed, whatever else could be said of them.
const LISTED: usize = 3;

/// The variants `names` in words, out of `all` that there are of the contract.
///
/// A variant is named by its choices, with spaces between them. Many variants that are exactly
/// those with one choice are named by it, which also says what the observation depends on.
pub(super) fn in_words(names: &[&str], all: &[&str]) -> String {
    if names.len() > LISTED && names.len() == all.len() {
        return format!("all {} variants", names.len());
    }
    if let Some(choice) = shared(names, all).filter(|_| names.len() > LISTED) {
        return format!("all {} variants with {}", names.len(), one_line(choice));
    }
    // A name has spaces in it, so that only a comma tells two of them apart.
    let names: Vec<String> = names.iter().map(|name| one_line(name)).collect();
    names.join(", ")
}

/// The choice that all of `names` have and no other of `all` has.
fn shared<'run>(names: &[&'run str], all: &[&str]) -> Option<&'run str> {
    let having = |variants: &[&str], choice: &str| {
        let has = |name: &&&str| name.split_whitespace().any(|other| other == choice);
        variants.iter().filter(has).count()
    };
    let mut choices = names.first()?.split_whitespace();
    choices
        .find(|choice| having(names, choice) == names.len() && having(all, choice) == names.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 8] = [
        "default",
        "skip-locked",
        "skip-locked serializable",
        "skip-locked database-clock",
        "skip-locked serializable database-clock",
        "serializable",
        "database-clock",
        "serializable database-clock",
    ];

    #[test]
    fn few_are_listed() {
        assert_eq!(in_words(&ALL[..1], &ALL[..1]), "default");
        assert_eq!(in_words(&ALL[..2], &ALL[..2]), "default, skip-locked");
    }

    #[test]
    fn many_are_all_or_share_a_choice_or_are_listed() {
        assert_eq!(in_words(&ALL, &ALL), "all 8 variants");
        assert_eq!(in_words(&ALL[1..5], &ALL), "all 4 variants with skip-locked");
        // Of those with the choice, the one that follows is left out.
        let more = [&ALL[..], &["skip-locked delete"]].concat();
        assert!(in_words(&ALL[1..5], &more).starts_with("skip-locked, skip-locked serializable, "));
        assert_eq!(
            in_words(&ALL[..4], &ALL),
            "default, skip-locked, skip-locked serializable, skip-locked database-clock"
        );
    }
}
