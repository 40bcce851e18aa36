//! The machine on which a report was made, and the commands that make it again.

use super::{super::number::short, label};
use crate::{Host, Report};

/// What a command line shell reads as it stands.
const PLAIN: &str = "@%+=:,./_-*";

pub(super) struct Machine {
    /// A title and the facts below it.
    pub(super) facts: Vec<(&'static str, Vec<(&'static str, String)>)>,
    /// What is made again, and the command that does it.
    pub(super) commands: Vec<(&'static str, String)>,
}

pub(super) fn of(report: Report<'_>) -> Machine {
    let mut machine = Machine { facts: Vec::new(), commands: Vec::new() };
    if let Some(run) = report.run {
        let mut facts = vec![
            ("run", label(&run.id)),
            ("seed", run.seed.to_string()),
            ("repeat", run.repeat.to_string()),
            ("matrix", label(&run.matrix_name)),
            ("took", format!("{} s", short(run.duration_ms as f64 / 1_000.0))),
            ("schema", label(&run.schema)),
        ];
        facts.extend(host(&run.host));
        machine.facts.push(("Contracts", facts));
        machine.commands.push(("The contracts", command(&run.command)));
    }
    if let Some(bench) = report.bench {
        let conditions = &bench.conditions;
        let unknown = || "unknown".to_owned();
        let load = |load: Option<f64>| load.map_or_else(unknown, |load| format!("{load:.2}"));
        let mut facts = vec![
            ("run", label(&bench.id)),
            ("profile", label(&bench.profile)),
            ("seed", bench.seed.to_string()),
            ("took", format!("{} s", short(bench.duration_ms as f64 / 1_000.0))),
            ("schema", label(&bench.schema)),
            (
                "processor",
                if conditions.cpu.is_empty() { unknown() } else { label(&conditions.cpu) },
            ),
        ];
        facts.extend(host(&bench.host));
        let fsyncs =
            conditions.fsyncs_per_s.map(|rate| format!("{} per second, 4 KiB each", short(rate)));
        facts.extend([
            (
                "file system",
                if conditions.file_system.is_empty() {
                    unknown()
                } else {
                    label(&conditions.file_system)
                },
            ),
            ("fsync", fsyncs.unwrap_or_else(unknown)),
            (
                "load",
                format!(
                    "{} before, {} after",
                    load(conditions.load_before),
                    load(conditions.load_after)
                ),
            ),
        ]);
        machine.facts.push(("Measurements", facts));
        machine.commands.push(("The measurements", command(&bench.command)));
    }
    machine
}

fn host(host: &Host) -> Vec<(&'static str, String)> {
    let kernel = if host.kernel.is_empty() { "unknown" } else { &host.kernel };
    vec![
        ("system", label(&format!("{} {}", host.os, host.arch))),
        ("kernel", label(kernel)),
        ("CPUs", host.cpus.to_string()),
        (
            "memory",
            if host.memory_mib == 0 {
                "unknown".to_owned()
            } else {
                format!("{} MiB", host.memory_mib)
            },
        ),
    ]
}

/// The arguments so that a shell reads them as they were.
fn command(arguments: &[String]) -> String {
    let quoted = |argument: &String| {
        let plain = |char: char| char.is_ascii_alphanumeric() || PLAIN.contains(char);
        if !argument.is_empty() && argument.chars().all(plain) && !argument.contains('*') {
            return argument.clone();
        }
        format!("'{}'", argument.replace('\'', r"'\''"))
    };
    label(&arguments.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted() {
        let arguments = ["leaseproof", "run", "--contract", "claim/*", "it's"].map(str::to_owned);
        assert_eq!(command(&arguments), r"leaseproof run --contract 'claim/*' 'it'\''s'");
    }
}
