//! PostgreSQL's own account of each lock wait, as it sends it to the session that waited.
//!
//! Up to version 18 no view counts waits. But a server told to log waits also tells the client, and
//! how long each wait was. The driver passes such messages on as events; [`LockLog`] adds them up.
//! Waits that are shorter than [`TELLING`]'s `deadlock_timeout` are not told.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::store::SessionId;

/// What a session must run first. The server looks for a deadlock, and tells of the wait, after
/// 1 ms in place of 1 s.
pub(super) const TELLING: &str = "SET lc_messages = 'C'; SET log_lock_waits = on; \
    SET deadlock_timeout = '1ms'; SET client_min_messages = log;";

/// The target of the driver's events that carry the server's messages.
const TARGET: &str = "sqlx::postgres::notice";

/// The waits of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) waits: u64,
    pub(super) total_ms: f64,
    pub(super) longest_ms: f64,
}

static LISTENING: AtomicBool = AtomicBool::new(false);
static TOLD: Mutex<BTreeMap<SessionId, Told>> = Mutex::new(BTreeMap::new());

/// Adds up what servers tell of waits; install it as a layer of the process's subscriber.
pub struct LockLog(());

impl LockLog {
    /// The layer; without it the waits of PostgreSQL's sessions are not observable.
    #[must_use]
    pub fn layer<S: Subscriber + for<'span> LookupSpan<'span>>() -> impl Layer<S> {
        LISTENING.store(true, Ordering::SeqCst);
        let wanted = tracing_subscriber::filter::filter_fn(|metadata| metadata.target() == TARGET);
        Self(()).with_filter(wanted)
    }
}

impl<S: Subscriber> Layer<S> for LockLog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        if let Some((session, said)) = parse(&message.0) {
            let mut told = TOLD.lock().expect("nobody panics while holding the waits");
            let told = told.entry(session).or_default();
            match said {
                Said::Waits => told.waits += 1,
                Said::Acquired(ms) => {
                    told.total_ms += ms;
                    told.longest_ms = told.longest_ms.max(ms);
                }
            }
        }
    }
}

/// The waits of these sessions, or `None` when nobody listens.
pub(super) fn told(sessions: &[SessionId]) -> Option<Told> {
    if !LISTENING.load(Ordering::SeqCst) {
        return None;
    }
    let told = TOLD.lock().expect("nobody panics while holding the waits");
    let mut sum = Told::default();
    for one in sessions.iter().filter_map(|session| told.get(session)) {
        sum.waits += one.waits;
        sum.total_ms += one.total_ms;
        sum.longest_ms = sum.longest_ms.max(one.longest_ms);
    }
    Some(sum)
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.0);
        }
    }
}

/// What a message says of a wait. One that ends in an error is only told to have begun: how long it
/// was is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Waits,
    Acquired(f64),
}

/// Reads `process 4 acquired ShareLock on transaction 7 after 200.311 ms`.
fn parse(message: &str) -> Option<(SessionId, Said)> {
    let rest = message.trim_matches('"').strip_prefix("process ")?;
    let (session, rest) = rest.split_once(' ')?;
    let (said, took) = rest.rsplit_once(" after ")?;
    let took = took.strip_suffix(" ms")?.parse().ok()?;
    let said = match said.split_once(' ')?.0 {
        "still" => Said::Waits,
        "acquired" => Said::Acquired(took),
        _ => return None,
    };
    Some((session.parse().ok()?, said))
}

#[cfg(test)]
mod tests {
    use super::{Said, parse};

    #[test]
    fn a_wait_is_read_from_the_servers_words() {
        let told = "process 81 acquired ShareLock on transaction 745 after 200.311 ms";
        assert_eq!(parse(told), Some((81, Said::Acquired(200.311))));
        let told = "process 81 still waiting for ShareLock on transaction 745 after 1.088 ms";
        assert_eq!(parse(told), Some((81, Said::Waits)));
        assert_eq!(parse("relation \"lease_event\" does not exist"), None);
    }
}
