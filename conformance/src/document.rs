//! What users read of a contract: its module's documentation, taken from the source itself.

use std::fmt::Write as _;

use crate::contract::Contract;
use crate::contracts::REGISTRY;

/// The contract's documentation as Markdown, without the comment marks.
#[must_use]
pub fn body(contract: &Contract) -> String {
    let lines = contract.doc.lines().take_while(|line| line.starts_with("//!"));
    let text =
        lines.map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or_default());
    text.collect::<Vec<_>>().join("\n")
}

/// Every contract in one Markdown document: what `CONTRACTS.md` holds.
#[must_use]
pub fn catalogue() -> String {
    let mut text = String::from(
        "# Contracts\n\n<!-- Generated from the contracts' own documentation; a test keeps it current. -->\n\n\
         | contract | level | promise | controls |\n|---|---|---|---|\n",
    );
    for contract in REGISTRY.iter() {
        let anchor = contract.id.replace('/', "");
        let controls = contract.controls.len();
        let Contract { id, level, promise, .. } = contract;
        writeln!(text, "| [{id}](#{anchor}) | {level} | {promise} | {controls} |")
            .expect("a string takes text");
    }
    for contract in REGISTRY.iter() {
        write!(text, "\n## {}\n\n{}\n", contract.id, deeper(&body(contract)))
            .expect("a string takes text");
        text.push_str("\n### Controls\n\n");
        for control in contract.controls {
            let source = match control.source {
                "" => String::new(),
                source => format!(" ({source})"),
            };
            writeln!(text, "- `{}`{source}", control.name).expect("a string takes text");
        }
    }
    text
}

/// The same text with its headings two levels down, to stand below another heading.
fn deeper(text: &str) -> String {
    let heading = |line: &str| match line.strip_prefix("# ") {
        Some(title) => format!("### {title}"),
        None => line.to_owned(),
    };
    text.lines().map(heading).collect::<Vec<_>>().join("\n")
}
