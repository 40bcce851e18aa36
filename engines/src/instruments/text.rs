//! Statements as servers show them: with values in place of their placeholders, or cut.

use crate::statement::Compiled;

/// The text with a literal in place of each parameter, for engines that plan no placeholders.
pub(crate) fn with_literals(statement: &Compiled, blob: &str) -> String {
    let mut text = String::new();
    let mut parts = split_placeholders(&statement.text).into_iter();
    text.push_str(parts.next().unwrap_or_default().1);
    for (position, (number, part)) in parts.enumerate() {
        let name = statement.parameters.get(number.map_or(position, |number| number - 1));
        text.push_str(match name.map(String::as_str) {
            Some("limit") => "10",
            Some("token") => blob,
            Some("event") => "'event-00000001'",
            Some("until") => "2000000000",
            _ => "1000000000",
        });
        text.push_str(part);
    }
    text
}

/// The text cut at its placeholders, each part with the number of the placeholder before it.
fn split_placeholders(text: &str) -> Vec<(Option<usize>, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut number = None;
    while let Some(at) = rest.find(['?', '$']) {
        parts.push((number, &rest[..at]));
        rest = &rest[at + 1..];
        let digits =
            rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        number = rest[..digits].parse().ok();
        rest = &rest[digits..];
    }
    parts.push((number, rest));
    parts
}

/// Servers cut texts that are longer than about this.
const CUT_BYTES: usize = 1000;

/// Whether this is the statement with values in place of its placeholders.
fn is_with_values(text: &str, running: &str) -> bool {
    let parts = split_placeholders(text);
    let mut rest = running;
    for (index, (_, part)) in parts.iter().enumerate() {
        match rest.find(part) {
            Some(at) if index > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    // What is left after the last part is its value, if it ends with one, and no more of a statement.
    parts.len() > 1 && !rest.contains(char::is_whitespace)
}

/// The name of the statement that a server shows as running, values in place of placeholders or not.
pub(crate) fn name_of<'name>(
    statements: impl IntoIterator<Item = (&'name String, &'name Compiled)>,
    running: &str,
) -> String {
    let running = running.trim().trim_end_matches(';');
    let statements: Vec<_> = statements.into_iter().collect();
    let text = |statement: &'name Compiled| statement.text.trim().trim_end_matches(';');
    let same = statements.iter().find(|(_, statement)| text(statement) == running);
    let found = same.or_else(|| {
        statements.iter().find(|(_, statement)| {
            let cut = running.len() >= CUT_BYTES && text(statement).starts_with(running);
            cut || is_with_values(text(statement), running)
        })
    });
    match found {
        Some((name, _)) => (*name).clone(),
        None => running.split_whitespace().next().unwrap_or("idle").to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::statement::{Placeholder, compile};

    #[test]
    fn a_statement_is_known_with_values_and_without() {
        let claim = compile("UPDATE lease SET a = :a WHERE id = :id;", Placeholder::Question);
        let other = compile("UPDATE lease SET a = :a WHERE b = :id;", Placeholder::Question);
        let statements = BTreeMap::from([("claim".to_owned(), claim), ("other".to_owned(), other)]);
        assert_eq!(name_of(&statements, "UPDATE lease SET a = 'x' WHERE id = 5"), "claim");
        assert_eq!(name_of(&statements, "UPDATE lease SET a = ? WHERE b = ?"), "other");
        assert_eq!(
            name_of(&statements, "UPDATE lease SET a = 'x' WHERE id = 5 AND b = 6"),
            "update"
        );
        assert_eq!(name_of(&statements, "COMMIT"), "commit");
        assert_eq!(name_of(&statements, ""), "idle");
    }

    #[test]
    fn literals_stand_where_their_parameters_stood() {
        let text = "SELECT 1 WHERE due_at <= :now LIMIT :limit";
        let expected = "SELECT 1 WHERE due_at <= 1000000000 LIMIT 10";
        for placeholder in [Placeholder::Question, Placeholder::Numbered, Placeholder::Dollar] {
            assert_eq!(with_literals(&compile(text, placeholder), "'t'").trim(), expected);
        }
    }
}
