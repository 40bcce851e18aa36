//! What an engine says it can do, against what a probe found.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether an engine has a capability: what it declares, and what a probe found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityState {
    /// Whether the engine declares the capability.
    pub declared: bool,
    /// Whether a probe found the capability; absent when it was not probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probed: Option<bool>,
    /// What the probe saw, in one sentence; empty when there is nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// How reality contradicts a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// The capability is declared and not there, which is an error.
    Absent,
    /// The capability is there and not declared, which is worth a note.
    Undeclared,
}

impl CapabilityState {
    /// A declaration that nobody has probed, as for an engine that is missing.
    #[must_use]
    pub fn unprobed(declared: bool) -> Self {
        Self { declared, probed: None, detail: String::new() }
    }

    /// A declaration and what a probe found; `detail` is what the probe saw, in one sentence.
    #[must_use]
    pub fn probed(declared: bool, found: bool, detail: impl Into<String>) -> Self {
        Self { declared, probed: Some(found), detail: detail.into() }
    }

    /// Whether the engine has the capability: what a probe found outweighs what is declared.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.probed.unwrap_or(self.declared)
    }

    /// How the probe contradicts the declaration, if it does.
    #[must_use]
    pub fn contradiction(&self) -> Option<Contradiction> {
        match (self.declared, self.probed) {
            (true, Some(false)) => Some(Contradiction::Absent),
            (false, Some(true)) => Some(Contradiction::Undeclared),
            _ => None,
        }
    }

    /// The stable words that every report uses.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match (self.declared, self.probed) {
            (true, Some(true)) => "yes",
            (false, Some(false)) => "no",
            (true, Some(false)) => "no, but declared",
            (false, Some(true)) => "yes, but not declared",
            (true, None) => "declared",
            (false, None) => "not declared",
        }
    }
}

impl fmt::Display for CapabilityState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_outweighs_a_declaration() {
        let absent = CapabilityState::probed(true, false, "the second session waited");
        assert!(!absent.is_present());
        assert_eq!(absent.contradiction(), Some(Contradiction::Absent));
        let undeclared = CapabilityState::probed(false, true, "");
        assert!(undeclared.is_present());
        assert_eq!(undeclared.contradiction(), Some(Contradiction::Undeclared));
        let unprobed = CapabilityState::unprobed(true);
        assert!(unprobed.is_present());
        assert_eq!(unprobed.contradiction(), None);
    }

    #[test]
    fn every_state_has_its_own_words() {
        let states = [true, false].into_iter().flat_map(|declared| {
            [None, Some(true), Some(false)].map(|probed| CapabilityState {
                declared,
                probed,
                detail: String::new(),
            })
        });
        let words: std::collections::BTreeSet<_> = states.map(|state| state.to_string()).collect();
        assert_eq!(words.len(), 6);
    }

    #[test]
    fn what_is_not_known_is_not_written() {
        let json = serde_json::to_string(&CapabilityState::unprobed(true)).unwrap();
        assert_eq!(json, r#"{"declared":true}"#);
        let read: CapabilityState = serde_json::from_str(&json).unwrap();
        assert_eq!(read, CapabilityState::unprobed(true));
    }
}
