//! ANSI colours; they only repeat what is written.

use super::KNOWN;
use crate::Outcome;

/// The colour of an outcome.
pub(super) fn of_outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Kept => "32",
        Outcome::Broken => "1;31",
        Outcome::Errored => "35",
        Outcome::Inconclusive => "33",
        Outcome::Missing => "31",
        Outcome::Skipped | Outcome::Unsupported => "2",
    }
}

/// The colour of a known failure: one that no outcome has.
pub(super) const OF_KNOWN: &str = "36";

/// `word` in a colour.
pub(super) fn paint(word: &str, colour: &str) -> String {
    format!("\x1b[{colour}m{word}\x1b[0m")
}

/// Colours the outcomes in a row of the table, whose first column is `first` characters wide.
pub(super) fn paint_row(line: &str, first: usize) -> String {
    let Some((end, _)) = line.char_indices().nth(first) else {
        return line.to_owned();
    };
    let (id, cells) = line.split_at(end);
    let painted = cells.split_inclusive(' ').map(|piece| {
        let word = piece.trim_end();
        match of_word(word.trim_end_matches('*')) {
            Some(colour) => format!("{}{}", paint(word, colour), &piece[word.len()..]),
            None => piece.to_owned(),
        }
    });
    std::iter::once(id.to_owned()).chain(painted).collect()
}

fn of_word(word: &str) -> Option<&'static str> {
    if word == KNOWN {
        return Some(OF_KNOWN);
    }
    let outcome = Outcome::ALL.into_iter().find(|outcome| word == outcome.as_str());
    outcome.map(of_outcome)
}
