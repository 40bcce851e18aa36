//! What an engine says when it cannot do what was asked, sorted by what the caller may do about it.

use std::fmt;

/// What the caller may do about an [`EngineError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The transaction is gone; the whole transaction, not one statement of it, may be run again.
    Retryable,
    /// The server refuses writes on this connection (a demoted or read-only node): whether a lease
    /// is still held is unknown, and nothing may be concluded from it.
    Fenced,
    /// The server or the connection cannot be reached, or did not answer in time.
    Unavailable,
    /// Repeating it cannot help: a wrong statement, a value the engine refuses, a missing right.
    Fatal,
}

impl ErrorKind {
    /// The stable lower-case name that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Retryable => "retryable",
            Self::Fenced => "fenced",
            Self::Unavailable => "unavailable",
            Self::Fatal => "fatal",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A failed operation on an engine.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{engine}` failed to {operation}: {message}{}", .code.as_deref().map(|code| format!(" (code `{code}`)")).unwrap_or_default())]
#[non_exhaustive]
pub struct EngineError {
    /// The engine's stable name.
    pub engine: &'static str,
    /// The verb of the vocabulary, such as `claim` or `commit`.
    pub operation: &'static str,
    /// What the caller may do about it.
    pub kind: ErrorKind,
    /// The engine's own code: SQLSTATE, errno or extended result code.
    pub code: Option<String>,
    /// The engine's own words, never containing a password.
    pub message: String,
}

impl EngineError {
    /// An error without a code of the engine's own.
    #[must_use]
    pub fn new(
        engine: &'static str,
        operation: &'static str,
        kind: ErrorKind,
        message: impl Into<String>,
    ) -> Self {
        Self { engine, operation, kind, code: None, message: message.into() }
    }

    /// The same error with the engine's own code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Whether the user lacks a right that the statement needs: PostgreSQL's 42501, MySQL's and MariaDB's
    /// 1044, 1142 and 1227.
    #[must_use]
    pub fn is_no_right(&self) -> bool {
        matches!(self.code.as_deref(), Some("42501" | "1044" | "1142" | "1227"))
    }

    /// Whether the server does not take the statement, for its syntax or for a feature that it lacks: PostgreSQL's
    /// 42601 and 0A000, MySQL's and MariaDB's 1064, 1149 and 1235.
    #[must_use]
    pub fn is_not_accepted(&self) -> bool {
        matches!(self.code.as_deref(), Some("42601" | "0A000" | "1064" | "1149" | "1235"))
    }

    /// Whether the whole transaction may be run again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind == ErrorKind::Retryable
    }
}
