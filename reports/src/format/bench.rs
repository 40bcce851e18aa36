//! The renderings of a bench run for tools that keep a history or compare.
//!
//! Invariants: a cell that is no result is in none of them; what an engine does not show is absent,
//! never 0; a name holds nothing that the format gives a meaning to.

pub mod bmf;
pub mod go;
pub mod history;

/// `text` as a part of a name: letters, digits and what is harmless everywhere.
fn plain(text: &str) -> String {
    let keep = |char: char| char.is_alphanumeric() || "._-".contains(char);
    text.chars().map(|char| if keep(char) { char } else { '_' }).collect()
}
