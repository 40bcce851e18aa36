//! The history of a case: every operation with who invoked it, when, and what came back, as data.
//!
//! A history is a file of JSON lines. The first line names the schema; every other is one [`Entry`], written
//! when it happened: an operation is invoked in one line and returns in another, so that what was cut short
//! still shows that it began. Nobody reads words out of it: words are made from it, in [`words`].
//!
//! Invariants: entries are in the order in which they happened; an operation returns at most once, after it
//! was invoked; instants are microseconds, tokens and event ids are whole. A minor version only adds.

mod call;
mod lines;
pub mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::call::{Answer, Call, ErrorClass, Held, Settled};
pub use self::lines::{HistoryError, read, write_header, write_line};

/// The `major.minor` version of the schema that this crate writes.
pub const HISTORY_SCHEMA: &str = "1.0";

/// The first line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The schema version, `major.minor`.
    pub history: String,
}

/// One line of a history after the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Which operation of the case, from 0.
    pub operation: u64,
    /// Microseconds from the start of the case, on one clock for all who take part.
    pub at_us: u64,
    /// What happened then.
    #[serde(flatten)]
    pub moment: Moment,
}

/// A moment of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// It was invoked.
    Invoked(Invocation),
    /// It returned, or was given up.
    Returned(Return),
}

/// Who invoked what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invocation {
    /// The name of who invoked it.
    pub actor: String,
    /// The server's number of the session; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<i64>,
    /// The process that invoked it, where it is not the runner's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// What was invoked, with its arguments.
    pub call: Call,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Return {
    /// What is known of its effect.
    pub ending: Ending,
    /// What came back.
    pub answer: Answer,
}

/// What is known of an operation's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// It took effect, or returned what was asked.
    Ok,
    /// It was refused and changed nothing.
    Refused,
    /// It failed with an error and took no effect.
    Fail,
    /// Whether it took effect is not known.
    Unknown,
}

/// One operation, its invocation and its return put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Who invoked what.
    pub invocation: Invocation,
    /// Microseconds from the start of the case to the invocation.
    pub invoked_us: u64,
    /// When it returned, in microseconds from the start of the case, and how; `None` while it is under way,
    /// and for ever where whoever invoked it was gone before.
    pub returned: Option<(u64, Return)>,
}

impl Operation {
    /// The name of who invoked it.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.invocation.actor
    }

    /// What was invoked.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.invocation.call
    }

    /// What came back, if anything did.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        self.returned.as_ref().map(|(_, returned)| &returned.answer)
    }

    /// What is known of its effect.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.returned.as_ref().map_or(Ending::Unknown, |(_, returned)| returned.ending)
    }

    /// Whether both were under way at one moment.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let end = |one: &Self| one.returned.as_ref().map_or(u64::MAX, |(at, _)| *at);
        self.invoked_us < end(other) && other.invoked_us < end(self)
    }
}

/// The JSON Schema of a line of a history, as pretty JSON that ends with a newline.
///
/// The published file is `schema/history-1.json`; a test keeps the two equal.
#[must_use]
pub fn json_schema() -> String {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "it exists for its schema")]
    enum Line {
        Header(Header),
        Entry(Entry),
    }
    crate::schema::pretty(schemars::schema_for!(Line), "urn:leaseproof:history:1")
}
