//! A history in words, for people: the one place where they are made.

use super::{Answer, Call, Operation, Settled};

/// How an operation is said to people; another wording changes no verdict.
pub type Wording = fn(&Operation) -> String;

/// The operation in one line: when, who, what, and what came back.
#[must_use]
pub fn line(operation: &Operation) -> String {
    let Operation { invocation, invoked_us, returned } = operation;
    let (until, answer) = match returned {
        Some((at, returned)) => (at.to_string(), self::answer(&returned.answer)),
        None => (String::new(), "no return".to_owned()),
    };
    format!("{invoked_us}–{until} µs {}: {} → {answer}", invocation.actor, call(&invocation.call))
}

/// What was invoked, with its arguments.
#[must_use]
pub fn call(call: &Call) -> String {
    match call {
        Call::Begin { reads_first: false } => "begin".to_owned(),
        Call::Begin { reads_first: true } => "begin, then read".to_owned(),
        Call::Commit => "commit".to_owned(),
        Call::Rollback => "roll back".to_owned(),
        Call::Enqueue { events } => {
            let more = if events.len() > 3 { ", …" } else { "" };
            let named: Vec<&str> = events.iter().take(3).map(String::as_str).collect();
            format!("enqueue {} ({}{more})", events.len(), named.join(", "))
        }
        Call::Candidates { limit, now } => {
            format!("read up to {limit} candidates at {}", instant(*now))
        }
        Call::Claim { event, token, now, until } => {
            format!("claim {event} with {token} {}", lease(*now, *until))
        }
        Call::ClaimBatch { limit, token, now, until, strategy } => {
            format!("claim up to {limit} with {token} {} by {strategy}", lease(*now, *until))
        }
        Call::Renew { event, token, now, until } => {
            format!("renew {event} with {token} {}", lease(*now, *until))
        }
        Call::Confirm { event, token, now } => {
            format!("confirm {event} with {token} at {}", instant(*now))
        }
        Call::Ack { event, token, now } => format!("ack {event} with {token} at {}", instant(*now)),
        Call::Release { event, token } => format!("release {event} with {token}"),
        Call::DeadLetter { limit, now } => {
            format!("dead-letter up to {limit} at {}", instant(*now))
        }
        Call::Lock { event, waits: true } => format!("lock {event}"),
        Call::Lock { event, waits: false } => format!("lock {event} without waiting"),
        Call::Reserve { consumer, event } => format!("reserve {event} for {consumer}"),
        Call::ApplyEffect { consumer, event } => {
            format!("apply the effect of {event} for {consumer}")
        }
        Call::Inspect { event } => format!("read {event}"),
        Call::Effects { consumer, event } => format!("count the effects of {event} for {consumer}"),
        Call::Backlog { now } => format!("read the backlog at {}", instant(*now)),
    }
}

fn lease(now: i64, until: i64) -> String {
    format!("at {} until {}", instant(now), instant(until))
}

/// What came back.
#[must_use]
pub fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Done => "done".to_owned(),
        Answer::Settled { settled: Settled::Took } => "took effect".to_owned(),
        Answer::Settled { settled: Settled::Already } => "had taken effect before".to_owned(),
        Answer::Settled { settled: Settled::Refused } => "refused".to_owned(),
        Answer::Events { events } => match events.is_empty() {
            true => "no event".to_owned(),
            false => events.join(", "),
        },
        Answer::Count { count } => count.to_string(),
        Answer::Held { held: None } => "no such event".to_owned(),
        Answer::Held { held: Some(held) } => {
            let token = held.token.as_deref().unwrap_or("no token");
            let until = held.until.map_or("no deadline".to_owned(), instant);
            let due = instant(held.due);
            format!("{}, {token}, until {until}, due {due}, attempt {}", held.state, held.attempt)
        }
        Answer::Backlog { claimable, active, expired, age_us } => {
            format!("{claimable} claimable, {active} active, {expired} expired, oldest {age_us} µs")
        }
        Answer::Error { class, code, message } => {
            let code = code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
            format!("{} error{code}: {message}", class.as_str())
        }
        Answer::GivenUp => "still waiting when it was given up".to_owned(),
    }
}

/// An instant in whole minutes and what is left in microseconds, as in `150min` or `150min-1µs`.
#[must_use]
pub fn instant(micros: i64) -> String {
    const MINUTE: i64 = 60_000_000;
    // The nearest minute, so that an instant just before one is shown as just before it.
    let minutes = micros.div_euclid(MINUTE) + i64::from(micros.rem_euclid(MINUTE) > MINUTE / 2);
    match i128::from(micros) - i128::from(minutes) * i128::from(MINUTE) {
        0 => format!("{minutes}min"),
        left => format!("{minutes}min{left:+}µs"),
    }
}
