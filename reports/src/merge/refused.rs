//! Why parts are not joined; every message names the inputs that it is about.

/// Why parts are not joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is nothing to join.
    #[error("no shard was given")]
    Nothing,
    /// An input is a whole run.
    #[error("`{name}` is no shard: it was not run with `--shard`")]
    NotAShard {
        /// The input.
        name: String,
    },
    /// Two inputs are not of one run.
    #[error(
        "{what} is `{of_one}` in `{one}` and `{of_other}` in `{other}`: they are not of one run"
    )]
    Differ {
        /// In what they differ.
        what: String,
        /// One input.
        one: String,
        /// What it is there.
        of_one: String,
        /// The other one.
        other: String,
        /// What it is there.
        of_other: String,
    },
    /// Two inputs are the same part.
    #[error("shard {index} was given twice: `{one}` and `{other}`")]
    Doubled {
        /// The part.
        index: u32,
        /// One input.
        one: String,
        /// The other one.
        other: String,
    },
    /// Two inputs have the same case.
    #[error("the case `{case}` is in `{one}` and in `{other}`: they are not of one run")]
    Overlap {
        /// The key of the case.
        case: String,
        /// One input.
        one: String,
        /// The other one.
        other: String,
    },
    /// Parts are absent.
    #[error("{}", are_missing(.missing, *.number, *.count))]
    Missing {
        /// The first of them, at most [`Refused::NAMED`].
        missing: Vec<u32>,
        /// How many are absent.
        number: usize,
        /// How many parts the run has.
        count: u32,
    },
    /// The measurements of a part were interrupted.
    #[error("`{name}` was interrupted: {left} of its repeats were not measured")]
    Unmeasured {
        /// The input.
        name: String,
        /// How many repeats are absent.
        left: u32,
    },
    /// A part was interrupted.
    #[error("`{name}` was interrupted: it ran {ran} of its {planned} cases")]
    Interrupted {
        /// The input.
        name: String,
        /// How many cases it has.
        ran: usize,
        /// How many it was to have.
        planned: u32,
    },
}

impl Refused {
    /// How many absent parts are named at most.
    pub const NAMED: usize = 64;
}

fn are_missing(missing: &[u32], number: usize, count: u32) -> String {
    let names = missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let more = number - missing.len().min(number);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match number {
        1 => format!("shard {names} of {count} is missing"),
        _ => format!("shards {names}{more} of {count} are missing"),
    }
}
