//! Shows a run while it goes on: bars on a terminal, plain lines elsewhere, both on stderr.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use leaseproof_reports::Outcome;

use crate::run::suite::Event;

/// How often a plain-line run says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What to say of cases as they end.
pub(super) struct Wording {
    /// Which outcomes deserve a line of their own.
    pub(super) notable: fn(Outcome) -> bool,
}

/// The state of what is shown.
pub(super) struct Display {
    wording: Wording,
    bars: Option<MultiProgress>,
    lines: Mutex<BTreeMap<String, Line>>,
}

struct Line {
    bar: Option<ProgressBar>,
    since: Instant,
    said: Instant,
    done: usize,
    of: usize,
}

impl Display {
    pub(super) fn new(wording: Wording) -> Self {
        let bars = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self { wording, bars, lines: Mutex::default() }
    }

    /// Shows an event.
    pub(super) fn show(&self, event: &Event<'_>) {
        match event {
            Event::Providing(step) => self.status(&step.label, &step.message),
            Event::Ready { label, provider, identity, cases } => {
                let took = self.with(label, |line| {
                    line.of = *cases;
                    if let Some(bar) = &line.bar {
                        bar.set_length(u64::try_from(*cases).unwrap_or(u64::MAX));
                    }
                    line.since.elapsed()
                });
                let server = format!("{} ({})", identity.version, provider.as_str());
                self.status(
                    label,
                    &format!("ready after {:.1} s: {server}, {cases} cases", took.as_secs_f64()),
                );
            }
            Event::Missing(missing) => self.say(&format!("{}: missing", missing.label)),
            Event::Started { label, job } => self.with(label, |line| {
                if let Some(bar) = &line.bar {
                    bar.set_message(job.contract.id);
                }
            }),
            Event::Finished { label, job, result } => {
                self.finished(label);
                if (self.wording.notable)(result.outcome) {
                    let control = job.control.map(|control| format!(" on `{}`", control.name));
                    let variant = job.variant.label();
                    let contract = job.contract.id;
                    let control = control.unwrap_or_default();
                    self.say(&format!(
                        "{label}: {contract} [{variant}]{control} {}: {}",
                        result.outcome, result.detail
                    ));
                }
            }
        }
    }

    /// Takes the bars off the screen.
    pub(super) fn clear(&self) {
        if let Some(bars) = &self.bars {
            // A terminal that is gone needs no clearing.
            drop(bars.clear());
        }
    }

    fn finished(&self, label: &str) {
        let beat = self.with(label, |line| {
            line.done += 1;
            if let Some(bar) = &line.bar {
                bar.inc(1);
                return None;
            }
            let due = line.said.elapsed() >= HEARTBEAT || line.done == line.of;
            due.then(|| {
                line.said = Instant::now();
                format!("{label}: {} of {} cases", line.done, line.of)
            })
        });
        if let Some(beat) = beat {
            self.say(&beat);
        }
    }

    fn status(&self, label: &str, message: &str) {
        let shown = self.with(label, |line| match &line.bar {
            Some(bar) => {
                bar.set_message(message.to_owned());
                true
            }
            None => false,
        });
        if !shown {
            self.say(&format!("{label}: {message}"));
        }
    }

    fn say(&self, text: &str) {
        match &self.bars {
            // A terminal that is gone is no reason to fail a run.
            Some(bars) => drop(bars.println(text)),
            None => eprintln!("{text}"),
        }
    }

    fn with<T>(&self, label: &str, change: impl FnOnce(&mut Line) -> T) -> T {
        let mut lines = self.lines.lock().expect("nobody panics while holding the lines");
        let line = lines.entry(label.to_owned()).or_insert_with(|| Line {
            bar: self.bars.as_ref().map(|bars| bars.add(bar(label))),
            since: Instant::now(),
            said: Instant::now(),
            done: 0,
            of: 0,
        });
        change(line)
    }
}

fn bar(label: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{prefix:>14} {bar:24} {pos:>4}/{len:4} {elapsed:>4} {wide_msg}",
    );
    let bar = ProgressBar::new(0).with_style(style.expect("the template is well formed"));
    bar.set_prefix(label.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
