//! Where a run comes from: its id, when it began, and the command line that made it.

use jiff::Timestamp;
use leaseproof_engines::servers::redact;

/// When a run begins. It names the run; no verdict depends on it.
#[expect(clippy::disallowed_methods, reason = "it names the run; no verdict depends on it")]
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Sortable by time, unique by 32 random bits.
#[must_use]
pub fn run_id(started: Timestamp) -> String {
    let time = started.strftime("%Y%m%dT%H%M%SZ");
    format!("{time}-{:08x}", rand::random::<u32>())
}

/// The command line as it was given, without passwords of URLs.
#[must_use]
pub fn command_line() -> Vec<String> {
    let without_password = |argument: String| match argument.split_once('=') {
        Some((name, text)) if text.contains("://") => {
            let shown = url::Url::parse(text).map_or_else(|_| "***".to_owned(), |url| redact(&url));
            format!("{name}={shown}")
        }
        _ => argument,
    };
    let mut command: Vec<String> = std::env::args().map(without_password).collect();
    if let Some(program) = command.first_mut() {
        "leaseproof".clone_into(program);
    }
    command
}
