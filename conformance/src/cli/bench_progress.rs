//! Shows a measurement while it goes on, with the time that is left by the plan.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use leaseproof_benches::server::BenchError;
use leaseproof_benches::suite::Event;
use leaseproof_engines::servers::Progress;

/// How often a run without a terminal says where it is.
const EVERY: Duration = Duration::from_secs(20);

/// What is shown. The bar is drawn between measurements only, never by a thread of its own: it would
/// run while others are timed.
pub(super) struct Watch {
    bar: ProgressBar,
    plain: bool,
    planned_ms: u64,
    done_ms: AtomicU64,
    since: Instant,
    said: Mutex<Instant>,
}

impl Watch {
    /// A bar as long as the plan, in seconds.
    pub(super) fn new(seconds: f64) -> Self {
        let plain = !std::io::stderr().is_terminal();
        let planned_ms = ms(seconds);
        let target =
            if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(planned_ms), target);
        let style = ProgressStyle::with_template("{bar:24} {percent:>3}% {prefix:>8} {wide_msg}");
        bar.set_style(style.expect("the template is well formed"));
        let now = Instant::now();
        Self {
            bar,
            plain,
            planned_ms,
            done_ms: AtomicU64::new(0),
            since: now,
            said: Mutex::new(now),
        }
    }

    pub(super) fn providing(&self, step: &Progress) {
        self.bar.set_message(format!("{}: {}", step.label, step.message));
    }

    pub(super) fn show(&self, event: &Event<'_>) {
        match event {
            Event::Ready(bench, seconds) => {
                let provider = bench.endpoint.provider.as_str();
                let version = &bench.identity.version;
                let label = &bench.label;
                self.say(&format!("{label}: {version} ({provider}), about {seconds:.0} s"));
            }
            Event::Missing(_, error) => self.missing(error),
            Event::Started(bench, job) => {
                let parameters: Vec<_> = job
                    .spec
                    .parameters
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                let cell =
                    format!("{} {} {}", bench.label, job.scenario.id(), parameters.join(" "));
                self.bar.set_prefix(self.left());
                self.bar.set_message(cell.clone());
                if self.plain && self.said().elapsed() >= EVERY {
                    self.say(&format!("{} left, now {cell}", self.left()));
                }
            }
            Event::Finished(bench, job, measured) => {
                let took = ms(job.spec.seconds);
                self.done_ms.fetch_add(took, Ordering::Relaxed);
                self.bar.inc(took);
                for violation in &measured.violations {
                    self.say(&format!("{} {}: {violation}", bench.label, job.scenario.id()));
                }
            }
        }
    }

    pub(super) fn missing(&self, error: &BenchError) {
        match error {
            BenchError::Missing(missing) => self.say(&super::missing(missing)),
            error => self.say(&error.to_string()),
        }
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// What is left of the plan, at the pace that the run has had so far.
    fn left(&self) -> String {
        let done = self.done_ms.load(Ordering::Relaxed);
        let left = self.planned_ms.saturating_sub(done) as f64;
        let pace = match done {
            0 => 1.0,
            _ => self.since.elapsed().as_secs_f64() * 1000.0 / done as f64,
        };
        let seconds = (left * pace / 1000.0).round();
        format!("{}:{:02}", (seconds / 60.0) as u64, (seconds % 60.0) as u64)
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Instant> {
        self.said.lock().expect("nobody panics while holding the clock")
    }

    fn say(&self, text: &str) {
        *self.said() = Instant::now();
        match self.plain {
            true => eprintln!("{text}"),
            false => self.bar.println(text),
        }
    }
}

fn ms(seconds: f64) -> u64 {
    (seconds * 1000.0) as u64
}
