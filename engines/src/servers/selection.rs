//! What a user asks for: an engine and a version of it, as in `postgres:15`.

use std::fmt;

use crate::engine::Engine;
use crate::servers::{ProviderKind, version};

/// An engine and the version of it that is wanted.
#[derive(Clone)]
pub struct Selection {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The version, such as `18`; for an embedded engine the one that is linked.
    pub version: String,
    /// Whether the version was named, and must hold even for a server given by URL.
    pub explicit: bool,
    /// The URL of the server that is meant, where one was given with the selection itself.
    pub given: Option<String>,
}

/// A text that names no engine, or no version of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// No engine has that name.
    #[error("unknown engine `{name}`{}; known: {known}", .nearest.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default())]
    UnknownEngine {
        /// What was asked for.
        name: String,
        /// The known name that differs least, if it differs little.
        nearest: Option<&'static str>,
        /// Every known name.
        known: String,
    },
    /// The version is no image tag.
    #[error(
        "`{version}` is not a version of `{engine}`: it begins with a digit, as in `{engine}:{example}` or `{engine}:{example}-slim`"
    )]
    BadVersion {
        /// The engine asked for.
        engine: &'static str,
        /// What was given as its version.
        version: String,
        /// A version that is known to exist.
        example: &'static str,
    },
    /// No engine has URLs of that scheme, or the text is none.
    #[error("`url=` is followed by no URL of a known engine; it begins with {schemes}")]
    UnknownScheme {
        /// How the URLs of all engines begin.
        schemes: String,
    },
    /// An embedded engine has one version only.
    #[error(
        "`{engine}:{version}` is not to be had: version `{linked}` is linked into this program; ask for `{engine}`"
    )]
    Linked {
        /// The engine asked for.
        engine: &'static str,
        /// The version asked for.
        version: String,
        /// The version that is there.
        linked: &'static str,
    },
}

impl Selection {
    /// The engine in its default version.
    #[must_use]
    pub fn of(engine: &'static dyn Engine) -> Self {
        Self { engine, version: engine.default_version().to_owned(), explicit: false, given: None }
    }

    /// Reads `ENGINE`, `ENGINE:VERSION`, or a server of the user's: `url=URL`, `ENGINE=URL` where two
    /// engines have URLs of the same scheme.
    ///
    /// # Errors
    /// When the engine is unknown, or the version is malformed or not to be had.
    pub fn parse(text: &str) -> Result<Self, SelectionError> {
        if let Some((name, url)) = text.split_once('=') {
            return given(name, url);
        }
        let (name, version) = match text.split_once(':') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let engine = crate::REGISTRY
            .iter()
            .copied()
            .find(|engine| engine.name() == name)
            .ok_or_else(|| unknown(name))?;
        let Some(version) = version else {
            return Ok(Self::of(engine));
        };
        if !version::is_well_formed(version) {
            return Err(SelectionError::BadVersion {
                engine: engine.name(),
                version: version.to_owned(),
                example: engine.default_version(),
            });
        }
        if engine.server().is_none() && !version::matches(version, engine.default_version()) {
            return Err(SelectionError::Linked {
                engine: engine.name(),
                version: version.to_owned(),
                linked: engine.default_version(),
            });
        }
        let version = match engine.server() {
            Some(_) => version.to_owned(),
            None => engine.default_version().to_owned(),
        };
        Ok(Self { engine, version, explicit: true, given: None })
    }

    /// The selection under the name of the server that was found. One given by URL without a version is
    /// called what it says it is: results of a PostgreSQL 15 must never stand under the name of the
    /// default version.
    #[must_use]
    pub fn named_after(&self, provider: ProviderKind, version: &str) -> Self {
        let mut named = self.clone();
        if provider == ProviderKind::Url && !self.explicit {
            let is_part = |letter: &char| letter.is_ascii_digit() || *letter == '.';
            named.version = version.chars().take_while(is_part).collect();
        }
        named
    }

    /// The stable name of what is selected: `postgres:18`, or `sqlite` for an embedded engine.
    #[must_use]
    pub fn label(&self) -> String {
        match self.engine.server() {
            Some(_) => format!("{}:{}", self.engine.name(), self.version),
            None => self.engine.name().to_owned(),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.label())
    }
}

impl fmt::Debug for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Selection({})", self.label())
    }
}

/// The server at a URL. The URL is not shown in errors: one that cannot be read may hold a password.
fn given(name: &str, url: &str) -> Result<Selection, SelectionError> {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    let speaks = |engine: &&'static dyn Engine| {
        engine.server().is_some_and(|server| server.schemes.contains(&scheme))
    };
    let engine = match name {
        "url" => {
            // A scheme that two engines speak is its namesake's first.
            let own = |engine: &&'static dyn Engine| {
                engine.server().is_some_and(|server| server.schemes[0] == scheme)
            };
            let all = || crate::REGISTRY.iter().copied();
            all().find(own).or_else(|| all().find(speaks))
        }
        name => {
            let named = crate::REGISTRY.iter().copied().find(|engine| engine.name() == name);
            Some(named.ok_or_else(|| unknown(name))?).filter(speaks)
        }
    };
    let Some(engine) = engine else {
        let servers = crate::REGISTRY.iter().filter_map(|engine| engine.server());
        let schemes = servers.map(|server| format!("`{}://`", server.schemes[0]));
        return Err(SelectionError::UnknownScheme {
            schemes: schemes.collect::<Vec<_>>().join(", "),
        });
    };
    Ok(Selection { given: Some(url.to_owned()), ..Selection::of(engine) })
}

fn unknown(name: &str) -> SelectionError {
    let names: Vec<_> = crate::REGISTRY.iter().map(|engine| engine.name()).collect();
    let nearest = names
        .iter()
        .map(|known| (distance(name, known), *known))
        .min()
        .filter(|(distance, known)| distance * 2 <= known.len())
        .map(|(_, known)| known);
    SelectionError::UnknownEngine { name: name.to_owned(), nearest, known: names.join(", ") }
}

/// How many letters must be added, removed or replaced to turn one name into the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{Selection, SelectionError, distance};

    #[test]
    fn a_url_says_whose_it_is() {
        let engine = |text: &str| Selection::parse(text).map(|selection| selection.engine.name());
        assert_eq!(engine("url=postgresql://u:p@h/d").unwrap(), "postgres");
        assert_eq!(engine("url=mysql://u:p@h/d").unwrap(), "mysql");
        assert_eq!(engine("mariadb=mysql://u:p@h/d").unwrap(), "mariadb");
        assert_eq!(engine("url=mariadb://u:p@h/d").unwrap(), "mariadb");
        let error = engine("url=u:secret@h").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(matches!(error, SelectionError::UnknownScheme { .. }), "{error}");
        assert!(engine("oracle=mysql://h").is_err());
    }

    #[test]
    fn distance_counts_single_letters() {
        assert_eq!(distance("postgres", "postgres"), 0);
        assert_eq!(distance("postgress", "postgres"), 1);
        assert_eq!(distance("pogstres", "postgres"), 2);
        assert_eq!(distance("", "mysql"), 5);
    }
}
