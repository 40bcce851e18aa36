//! Entries of the known-failures file that are kept again, in words.

use super::text::one_line;
use crate::Rotten;

/// How many kept cases the words name before they only count them.
const NAMED: usize = 3;

/// The name that every report gives to the check of an entry.
pub(super) fn name(rotten: &Rotten) -> String {
    format!("known-failing [{}]", one_line(&rotten.entry))
}

/// What was observed, and what to do about it, in one line.
pub(super) fn observed(rotten: &Rotten) -> String {
    let mut by = String::new();
    if !rotten.kept.is_empty() {
        by = format!(" by {}", rotten.kept[..rotten.kept.len().min(NAMED)].join(", "));
    }
    if rotten.kept.len() > NAMED {
        by.push_str(&format!(" and {} more", rotten.kept.len() - NAMED));
    }
    let reason = &rotten.reason;
    one_line(&format!("kept again{by}; its reason was: {reason}; remedy: remove the entry"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_cases_are_named() {
        let mut rotten = Rotten {
            entry: "sqlite:\nclaim/*".to_owned(),
            reason: "it is known".to_owned(),
            kept: vec!["a".to_owned()],
        };
        assert_eq!(name(&rotten), "known-failing [sqlite: claim/*]");
        assert_eq!(
            observed(&rotten),
            "kept again by a; its reason was: it is known; remedy: remove the entry"
        );
        rotten.kept = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        assert!(observed(&rotten).starts_with("kept again by a, b, c and 2 more; "));
        rotten.kept.clear();
        assert!(observed(&rotten).starts_with("kept again; "));
    }
}
