//! The caller's side: finds or starts the keeper of a server and waits for its endpoint.

use std::fs::File;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::servers::attempt::{Attempt, Missing, Progress, ProgressFn};
use crate::servers::rendezvous::{Outcome, Rendezvous};
use crate::servers::{Endpoint, OwnerPid, ProvideOptions, ProviderKind, Selection};
use crate::servers::{by_url, embedded, keeper, rendezvous, stale};

/// How often a waiting process looks for its keeper's files.
const LOOK: Duration = Duration::from_millis(20);

/// Provides a server of what is selected; one that is there for the same owner is shared.
///
/// It must run on a tokio runtime with time and I/O enabled. The server is removed when the owner
/// has ended, by a process of its own; nothing needs to be called for that.
///
/// # Errors
/// When no provider has one: every provider asked, with its reason and a remedy.
pub async fn provide(
    selection: &Selection,
    options: &ProvideOptions,
    progress: ProgressFn<'_>,
) -> Result<Endpoint, Missing> {
    stale::sweep_once().await;
    let missing = |attempt| Missing { label: selection.label(), attempts: vec![attempt] };
    if selection.engine.server().is_none() {
        return embedded::provide(selection.engine.name()).map_err(missing);
    }
    // A server that the user names is the one to test, or none is.
    if let Some(given) = by_url::provide(selection).await {
        return given.map_err(missing);
    }
    let place = Rendezvous::open(options.owner, &selection.label())
        .map_err(|error| missing(no_meeting_point(&error)))?;
    join(&place, options, progress).await.map_err(|failure| match failure {
        Failure::Missing(reported) => reported,
        Failure::Io(error) => missing(no_meeting_point(&error)),
        Failure::Keeper(reason) => missing(Attempt::new(
            ProviderKind::Container,
            reason,
            "free space for temporary files (or set TMPDIR), or run it again",
        )),
    })
}

/// Ends the servers of an owner before it ends itself, and waits until they are removed.
///
/// Nobody need call it: a keeper sees its owner end. It is for a program that promises that nothing
/// runs any more when it returns. Returns whether everything was gone within `bound`.
pub async fn release(owner: OwnerPid, bound: Duration) -> bool {
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let start = Instant::now();
    while start.elapsed() < bound {
        ticks.tick().await;
        match rendezvous::stop(owner) {
            Ok(true) => {}
            Ok(false) => return true,
            // What cannot be asked for is done all the same once this process has ended.
            Err(_) => return false,
        }
    }
    false
}

/// Why waiting for a keeper came to nothing.
enum Failure {
    Missing(Missing),
    Io(io::Error),
    Keeper(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

async fn join(
    place: &Rendezvous,
    options: &ProvideOptions,
    progress: ProgressFn<'_>,
) -> Result<Endpoint, Failure> {
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut keeper: Option<Child> = None;
    let mut offset = 0;
    let mut sign = Instant::now();
    loop {
        ticks.tick().await;
        for step in place.told(&mut offset) {
            sign = Instant::now();
            progress(step);
        }
        match look(place)? {
            Seen::Ready(endpoint) => return Ok(endpoint),
            Seen::Failed(missing) => return Err(Failure::Missing(missing)),
            Seen::Wait => {}
            Seen::Nobody(_) if keeper.is_some() => return Err(Failure::Keeper(last_words(place))),
            Seen::Nobody(lock) => {
                offset = 0;
                keeper = Some(start(place, options, lock).await?);
                progress(Progress {
                    label: place.label().to_owned(),
                    message: "looking for a server".to_owned(),
                });
            }
        }
        if let Some(keeper) = &mut keeper {
            // Only so that an ended keeper does not stay in the process table; its files tell the rest.
            let _ = keeper.try_wait();
        }
        if sign.elapsed() > options.patience {
            let patience = options.patience.as_secs();
            return Err(Failure::Keeper(format!("no server and no progress within {patience} s")));
        }
    }
}

/// What there is to see at the meeting point.
enum Seen {
    Ready(Endpoint),
    Failed(Missing),
    /// A keeper is at work.
    Wait,
    /// No keeper lives; whoever sees that has its lock.
    Nobody(File),
}

fn look(place: &Rendezvous) -> io::Result<Seen> {
    if let Outcome::Failed(missing) = place.outcome()? {
        return Ok(Seen::Failed(missing));
    }
    let lock = place.try_lock()?;
    // Read again: a keeper that ended between the two looks may have left its outcome.
    Ok(match (place.outcome()?, lock) {
        (Outcome::Failed(missing), _) => Seen::Failed(missing),
        (Outcome::Ready(endpoint), None) => Seen::Ready(endpoint),
        (Outcome::None, None) => Seen::Wait,
        // An endpoint without a living keeper is that of a server that nobody holds any more.
        (_, Some(lock)) => Seen::Nobody(lock),
    })
}

/// Starts the keeper. The locked file becomes its standard input, so that the lock passes to it
/// without a gap and is free at the moment it ends, however it ends.
async fn start(place: &Rendezvous, options: &ProvideOptions, lock: File) -> io::Result<Child> {
    stale::remove_native(place).await;
    place.reset();
    Command::new(&options.keeper)
        .args(keeper::arguments(place, options))
        .stdin(Stdio::from(lock))
        .stdout(Stdio::null())
        .stderr(Stdio::from(place.log()?))
        .spawn()
        .map_err(|error| {
            let program = options.keeper.display();
            io::Error::new(error.kind(), format!("cannot start `{program}`: {error}"))
        })
}

fn last_words(place: &Rendezvous) -> String {
    let log = std::fs::read_to_string(place.path("log")).unwrap_or_default();
    let lines: Vec<_> = log.lines().rev().take(3).collect();
    if lines.is_empty() {
        return "the server's keeper ended before the server answered, and could write nothing"
            .to_owned();
    }
    let words: Vec<_> = lines.into_iter().rev().collect();
    format!("the server's keeper ended before the server answered: {}", words.join(" | "))
}

fn no_meeting_point(error: &io::Error) -> Attempt {
    Attempt::new(
        ProviderKind::Container,
        format!("nothing can be started: {error}"),
        "make the directory for temporary files writable, free space on it, or set TMPDIR",
    )
}
