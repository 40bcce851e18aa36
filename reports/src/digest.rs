//! The digest of a report, by which a reader sees that it is no longer what was written.
//!
//! It guards against accident and careless editing. It is no signature: whoever wants to forge a
//! report can compute it too.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::Run;

/// The field that holds the digest, which is the one that is not digested.
const FIELD: &str = "digest";

/// Whether a report is what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// It is.
    Intact,
    /// It was changed since.
    Broken,
    /// It has no digest: it was written by an early version, or the digest was removed.
    Absent,
}

impl Run {
    /// Writes the digest of everything else in the run into it. What is changed later breaks it.
    pub fn seal(&mut self) {
        self.digest = None;
        let value =
            serde_json::to_value(&*self).expect("every map of a report has keys that are strings");
        self.digest = Some(of(&value));
    }
}

/// Whether the digest in a report is that of the rest.
///
/// It is told from the JSON and not from a [`Run`], so that fields of newer minor versions, which a
/// [`Run`] ignores, are digested too.
#[must_use]
pub fn check(report: &Value) -> Seal {
    match report.get(FIELD) {
        None | Some(Value::Null) => Seal::Absent,
        Some(Value::String(stated)) if *stated == of(report) => Seal::Intact,
        Some(_) => Seal::Broken,
    }
}

/// The SHA-256 of the canonical form of a report without its digest: no white space, and the keys
/// of every object sorted, so that formatting the file anew changes nothing.
pub(crate) fn of(report: &Value) -> String {
    let mut text = String::new();
    match report {
        Value::Object(fields) => {
            push_object(&mut text, fields.iter().filter(|(name, _)| *name != FIELD));
        }
        other => push(&mut text, other),
    }
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()) {
        write!(digest, "{byte:02x}").expect("a string takes text");
    }
    digest
}

fn push(text: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                push(text, item);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => push_object(text, fields.iter()),
        // A string is escaped, so that no text can look like the end of a value.
        scalar => write!(text, "{scalar}").expect("a string takes text"),
    }
}

fn push_object<'value>(
    text: &mut String,
    fields: impl Iterator<Item = (&'value String, &'value Value)>,
) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(name, _)| *name);
    text.push('{');
    for (name, value) in fields {
        push(text, &Value::from(name.as_str()));
        text.push(':');
        push(text, value);
        text.push(',');
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn sealed() -> Value {
        let mut run = sample::hostile();
        run.seal();
        serde_json::to_value(run).unwrap()
    }

    #[test]
    fn a_report_is_intact_however_it_is_formatted() {
        let value = sealed();
        assert_eq!(check(&value), Seal::Intact);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(check(&serde_json::from_str(&pretty).unwrap()), Seal::Intact);
        let mut again: Run = serde_json::from_value(value).unwrap();
        let digest = again.digest.clone();
        again.seal();
        assert_eq!(again.digest, digest);
    }

    #[test]
    fn every_change_breaks_the_seal() {
        let changes: [fn(&mut Value); 5] = [
            |run| run["cases"][0]["outcome"] = "kept".into(),
            |run| run["seed"] = 8.into(),
            |run| run["note"] = "a field that nobody knows".into(),
            |run| run["digest"] = "sha256:00".into(),
            |run| _ = run["cases"].as_array_mut().unwrap().pop(),
        ];
        for change in changes {
            let mut value = sealed();
            change(&mut value);
            assert_eq!(check(&value), Seal::Broken);
        }
        let mut value = sealed();
        value.as_object_mut().unwrap().remove("digest");
        assert_eq!(check(&value), Seal::Absent);
    }
}
