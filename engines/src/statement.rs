//! The SQL of an engine as plain data: named statements with named parameters and named guards.
//!
//! A file under `sql/<engine>` is one statement, readable and copyable as it is. Parameters are
//! written `:name`, as SQLite, JDBC templates and most query builders read them; [`compile`] turns
//! them into what a driver binds. A predicate that keeps a promise ends with `-- guard: name`, so
//! that a negative control can take just that promise away.

use std::collections::BTreeMap;

/// How a driver spells parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// `$1`, `$2`: one number for each name.
    Dollar,
    /// `?`: one for each occurrence.
    Question,
    /// `?1`, `?2`: one number for each name.
    Numbered,
}

/// A statement as a driver wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The text with the driver's placeholders, comments removed.
    pub text: String,
    /// The parameter to bind at each position.
    pub parameters: Vec<String>,
}

/// Why an edit of a statement could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The engine has no statement of that name.
    #[error("no statement `{0}`")]
    NoStatement(String),
    /// The statement has no guard of that name.
    #[error("statement `{statement}` has no guard `{guard}`")]
    NoGuard {
        /// The statement that was to be edited.
        statement: String,
        /// The guard looked for.
        guard: String,
    },
    /// The statement does not contain the text that was to be replaced.
    #[error("statement `{statement}` does not contain `{text}`")]
    NoText {
        /// The statement that was to be edited.
        statement: String,
        /// The text looked for.
        text: String,
    },
}

/// An engine's statements by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statements(BTreeMap<String, String>);

impl Statements {
    /// The statements of the given names and texts.
    #[must_use]
    pub fn new(statements: &[(&str, &str)]) -> Self {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        Self(statements.iter().map(owned).collect())
    }

    /// The text of a statement as it stands in its file.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Every statement, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Makes a guard always true, leaving its parameters in place.
    ///
    /// # Errors
    /// When there is no such statement or guard.
    pub fn disable_guard(&mut self, statement: &str, guard: &str) -> Result<(), EditError> {
        self.edit_guard(statement, guard, |expression| format!("({expression} OR 1 = 1)"))
    }

    /// Puts another predicate in place of a guard.
    ///
    /// # Errors
    /// When there is no such statement or guard.
    pub fn replace_guard(
        &mut self,
        statement: &str,
        guard: &str,
        predicate: &str,
    ) -> Result<(), EditError> {
        self.edit_guard(statement, guard, |_| predicate.to_owned())
    }

    /// Replaces text in a statement.
    ///
    /// # Errors
    /// When there is no such statement, or the text does not occur in it.
    pub fn replace(&mut self, statement: &str, from: &str, to: &str) -> Result<(), EditError> {
        let text = self.text_mut(statement)?;
        if !text.contains(from) {
            return Err(EditError::NoText {
                statement: statement.to_owned(),
                text: from.to_owned(),
            });
        }
        *text = text.replace(from, to);
        Ok(())
    }

    /// Puts another text in place of a whole statement.
    ///
    /// # Errors
    /// When there is no such statement.
    pub fn set(&mut self, statement: &str, text: &str) -> Result<(), EditError> {
        text.clone_into(self.text_mut(statement)?);
        Ok(())
    }

    /// The same statements, with those of `others` in place of their namesakes.
    #[must_use]
    pub fn overridden_by(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// The same statements with `:now` added to every reading of a clock, which is how a test moves
    /// the engine's clock on without waiting.
    #[must_use]
    pub fn shifted(mut self, readings: &[&str]) -> Self {
        for text in self.0.values_mut() {
            for reading in readings {
                *text = text.replace(reading, &format!("({reading} + :now)"));
            }
        }
        self
    }

    fn text_mut(&mut self, statement: &str) -> Result<&mut String, EditError> {
        self.0.get_mut(statement).ok_or_else(|| EditError::NoStatement(statement.to_owned()))
    }

    fn edit_guard(
        &mut self,
        statement: &str,
        guard: &str,
        edit: impl Fn(&str) -> String,
    ) -> Result<(), EditError> {
        let text = self.text_mut(statement)?;
        let mark = format!("-- guard: {guard}");
        let mut found = false;
        let mut lines = Vec::new();
        for line in text.lines() {
            let Some(code) = line.strip_suffix(mark.as_str()) else {
                lines.push(line.to_owned());
                continue;
            };
            found = true;
            let code = code.trim();
            let (keyword, expression) = code.split_once(' ').unwrap_or(("", code));
            lines.push(format!("{keyword} {} {mark}", edit(expression)));
        }
        if !found {
            return Err(EditError::NoGuard {
                statement: statement.to_owned(),
                guard: guard.to_owned(),
            });
        }
        *text = lines.join("\n");
        Ok(())
    }
}

/// Turns named parameters into a driver's placeholders and drops comments.
#[must_use]
pub fn compile(text: &str, placeholder: Placeholder) -> Compiled {
    let mut compiled = Compiled { text: String::new(), parameters: Vec::new() };
    let lines = text.lines().map(|line| line.split("--").next().unwrap_or(""));
    let code = lines
        .map(str::trim_end)
        .filter(|line| !line.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    let mut rest = code.trim_end_matches(';');
    while let Some(colon) = rest.find(':') {
        let (before, after) = rest.split_at(colon);
        compiled.text.push_str(before);
        // A cast `::bigint` is not a parameter.
        if let Some(cast) = after.strip_prefix("::") {
            compiled.text.push_str("::");
            rest = cast;
            continue;
        }
        let name: String = after[1..]
            .chars()
            .take_while(|character| character.is_ascii_alphanumeric() || *character == '_')
            .collect();
        rest = &after[1 + name.len()..];
        compiled.bind(&name, placeholder);
    }
    compiled.text.push_str(rest);
    compiled
}

impl Compiled {
    fn bind(&mut self, name: &str, placeholder: Placeholder) {
        let known = self.parameters.iter().position(|parameter| parameter == name);
        let reuse = known.filter(|_| placeholder != Placeholder::Question);
        let position = reuse.unwrap_or_else(|| {
            self.parameters.push(name.to_owned());
            self.parameters.len() - 1
        });
        match placeholder {
            Placeholder::Dollar => self.text.push_str(&format!("${}", position + 1)),
            Placeholder::Question => self.text.push('?'),
            Placeholder::Numbered => self.text.push_str(&format!("?{}", position + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENEW: &str = "-- Extends a lease.
UPDATE lease SET lease_until = :until
 WHERE token = :token     -- guard: token
   AND lease_until < :until::bigint -- guard: longer
;
";

    #[test]
    fn parameters_are_numbered_by_name() {
        let compiled = compile(RENEW, Placeholder::Dollar);
        assert_eq!(compiled.parameters, ["until", "token"]);
        assert!(compiled.text.contains("lease_until < $1::bigint"), "{}", compiled.text);
    }

    #[test]
    fn question_marks_are_bound_by_occurrence() {
        let compiled = compile(RENEW, Placeholder::Question);
        assert_eq!(compiled.parameters, ["until", "token", "until"]);
    }

    #[test]
    fn a_disabled_guard_keeps_its_parameters() {
        let mut statements = Statements::new(&[("renew", RENEW)]);
        statements.disable_guard("renew", "longer").unwrap();
        let text = statements.get("renew").unwrap();
        assert!(text.contains("AND (lease_until < :until::bigint OR 1 = 1)"), "{text}");
    }

    #[test]
    fn an_edit_that_finds_nothing_is_an_error() {
        let mut statements = Statements::new(&[("renew", RENEW)]);
        assert!(statements.disable_guard("renew", "owner").is_err());
        assert!(statements.replace("renew", "absent", "x").is_err());
        assert!(statements.set("absent", "x").is_err());
    }
}
