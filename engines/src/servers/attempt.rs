//! What was tried to provide a server: progress while it goes on, reasons when it fails.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::servers::ProviderKind;

/// A provider that could not provide the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Who was asked.
    pub provider: ProviderKind,
    /// Why there is no server from it, as a lower-case fragment without a password.
    pub reason: String,
    /// What a user can do about it.
    pub remedy: String,
}

impl Attempt {
    /// An attempt that failed for that reason.
    pub(crate) fn new(
        provider: ProviderKind,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { provider, reason: reason.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.provider.as_str(), self.reason)
    }
}

/// No provider has a server of what was selected.
///
/// Its message names every provider asked, each with its reason, and the remedies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What was selected, such as `postgres:18`.
    pub label: String,
    /// Who was asked, in order.
    pub attempts: Vec<Attempt>,
}

impl Missing {
    /// What a user can do, without repetition, in the order of the attempts.
    #[must_use]
    pub fn remedies(&self) -> Vec<&str> {
        let mut remedies: Vec<&str> = Vec::new();
        for attempt in &self.attempts {
            if !attempt.remedy.is_empty() && !remedies.contains(&attempt.remedy.as_str()) {
                remedies.push(&attempt.remedy);
            }
        }
        remedies
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no server for `{}`", self.label)?;
        for (index, attempt) in self.attempts.iter().enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            write!(formatter, "{separator}{attempt}")?;
        }
        let remedies = self.remedies();
        if !remedies.is_empty() {
            write!(formatter, "; to get one, {}", remedies.join(", or "))?;
        }
        Ok(())
    }
}

impl std::error::Error for Missing {}

/// A provider seen by a survey, which starts nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Who was asked.
    pub provider: ProviderKind,
    /// Whether it can provide a server.
    pub usable: bool,
    /// What was found, or why it is not usable, as a lower-case fragment without a password.
    pub detail: String,
    /// What a user can do where it is not usable.
    pub remedy: Option<String>,
}

impl Finding {
    /// A provider that can provide a server.
    pub(crate) fn usable(provider: ProviderKind, detail: impl Into<String>) -> Self {
        Self { provider, usable: true, detail: detail.into(), remedy: None }
    }
}

impl From<Attempt> for Finding {
    fn from(attempt: Attempt) -> Self {
        Self {
            provider: attempt.provider,
            usable: false,
            detail: attempt.reason,
            remedy: Some(attempt.remedy).filter(|remedy| !remedy.is_empty()),
        }
    }
}

/// A step on the way to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What is being provided, such as `postgres:18`.
    pub label: String,
    /// What is being done, as a lower-case fragment.
    pub message: String,
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.label, self.message)
    }
}

/// Who is told of each step; called from the task that provides the server.
pub type ProgressFn<'a> = &'a (dyn Fn(Progress) + Send + Sync);
