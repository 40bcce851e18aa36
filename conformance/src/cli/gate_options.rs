//! How great a change must be to matter, for every command that compares.

use clap::Args;
use leaseproof_reports::compare::{Gate, Verdict};

use crate::exit_code::Exit;

#[derive(Args, Clone, Copy)]
pub(super) struct GateOptions {
    /// The smallest change of operations per second that counts, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, value_parser = percent)]
    throughput: f64,
    /// The smallest change of a 99th percentile that counts, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = percent)]
    tail: f64,
    /// The smallest change of counted work (pages, lock requests, skips, steps) of a worker alone that
    /// counts, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    counters: f64,
    /// The same of workers that meet each other, in per cent: who comes first varies
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, value_parser = percent)]
    contended: f64,
    /// Judge counted work alone: times are shown and decide nothing
    #[arg(long)]
    counters_only: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.1..100.0).contains(&number) {
        return Ok(number);
    }
    Err("it must be at least 0.1 and less than 100".to_owned())
}

impl GateOptions {
    pub(super) fn gate(self) -> Gate {
        Gate {
            throughput: self.throughput / 100.0,
            tail: self.tail / 100.0,
            counters: self.counters / 100.0,
            contended: self.contended / 100.0,
            wall_clock: !self.counters_only,
        }
    }
}

/// What a comparison amounts to, as an exit code.
pub(super) fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Fine => Exit::Kept,
        Verdict::Inconclusive => Exit::Undecided,
        Verdict::Worse => Exit::Regression,
    }
}
