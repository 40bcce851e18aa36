//! One page for a decision: may this engine carry leases, and what has its user to know?
//!
//! Invariant: the first line is the decision, and it is never better than what was found out.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{finding, variants::in_words},
    OBSERVED_CHARS, clip,
    escape::{code, text},
    facts, observed,
    row::{push_header, push_row},
    section,
};
use crate::{
    Case, ContractInfo, Contradiction, EngineRun, Level, Outcome, Run, Summary, verify::Required,
};

/// How many contracts that did not run the decision names before it only counts them.
const NAMED: usize = 3;

/// Statements to copy, as plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// The heading.
    pub title: String,
    /// When to use them, in a sentence.
    pub note: String,
    /// The names and texts.
    pub texts: Vec<(String, String)>,
}

/// Renders the page about the engine with the label `label`, or nothing when the run has no such engine.
///
/// `required` are the cases without which nothing is decided.
#[must_use]
pub fn render(
    run: &Run,
    label: &str,
    required: &[Required],
    statements: &[Statements],
) -> Option<String> {
    let run = only(run, label)?;
    let engine = run.engines.first()?;
    let title = [&engine.name, &engine.version].map(|part| text(part)).join(" ");
    let mut page =
        format!("# {}\n\n**{}**\n", title.trim_end(), text(&decision(&run, engine, required)));
    let (matrix, summary) = (text(&run.matrix_name), text(&run.summary.to_string()));
    page.push_str(&format!("\nAll variants of the {matrix} matrix together: {summary}.\n"));
    let sections = [
        contracts(&run),
        section::kept_again(&run),
        section::not_kept(&without_unsupported(&run)),
        limits(&run, engine),
        observed::loser(&run),
        facts::facts(&run),
        settings(engine),
    ];
    for section in sections.iter().filter(|section| !section.is_empty()) {
        page.push('\n');
        page.push_str(section);
    }
    for Statements { title, note, texts } in statements {
        page.push_str(&format!("\n## {title}\n\n{note}\n"));
        for (name, statement) in texts {
            page.push_str(&format!("\n### {name}\n\n```sql\n{}\n```\n", statement.trim_end()));
        }
    }
    page.push('\n');
    page.push_str(&section::run(&run));
    Some(page)
}

/// The run as if this engine alone had been selected.
fn only(run: &Run, label: &str) -> Option<Run> {
    let mut run = run.clone();
    run.engines.retain(|engine| engine.label == label);
    run.cases.retain(|case| case.engine == label);
    let keys: Vec<String> = run.cases.iter().map(Case::key).collect();
    run.rotten.retain(|rotten| rotten.kept.iter().any(|key| keys.contains(key)));
    run.summary = Summary::of(&run.cases, &run.engines);
    (!run.engines.is_empty()).then_some(run)
}

/// What is unsupported is a limit, and has a section of its own.
fn without_unsupported(run: &Run) -> Run {
    let mut run = run.clone();
    run.cases.retain(|case| case.outcome != Outcome::Unsupported);
    run
}

/// The required contracts that lack a case.
fn absent<'required>(
    run: &Run,
    label: &str,
    required: &'required [Required],
) -> Vec<&'required str> {
    let ran: BTreeSet<(&str, &str)> =
        run.cases.iter().map(|case| (case.id.as_str(), case.variant.as_str())).collect();
    let of_engine = required.iter().filter(|one| one.engine == label);
    let absent = of_engine.filter(|one| !ran.contains(&(&one.contract, &one.variant)));
    let mut ids: Vec<&str> = absent.map(|one| one.contract.as_str()).collect();
    ids.dedup();
    ids
}

/// Whether the run leaves open whether to adopt the engine with the label `label`.
#[must_use]
pub fn is_undecided(run: &Run, label: &str, required: &[Required]) -> bool {
    let Some(run) = only(run, label) else { return true };
    let engine = run.engines.first();
    engine.is_none_or(|engine| decision(&run, engine, required).starts_with(UNDECIDED))
}

/// How the decision begins when there is none.
const UNDECIDED: &str = "Undecided: ";

/// Whether to adopt the engine, in one line without a full stop.
fn decision(run: &Run, engine: &EngineRun, required: &[Required]) -> String {
    if engine.is_missing() {
        return format!("Undecided: {}", finding::absence(engine));
    }
    let counting: Vec<&Case> =
        run.cases.iter().filter(|case| case.level != Level::Provisional).collect();
    let named = |outcomes: &[Outcome]| {
        let is_one = |case: &&&Case| outcomes.contains(&case.outcome) && !case.is_known_failure();
        let mut ids: Vec<&str> =
            counting.iter().filter(is_one).map(|case| case.id.as_str()).collect();
        ids.dedup();
        (!ids.is_empty()).then(|| ids.join(", "))
    };
    if let Some(ids) = named(&[Outcome::Broken]) {
        return format!("Do not adopt it for what these contracts guard, which it breaks: {ids}");
    }
    if let Some(ids) =
        named(&[Outcome::Errored, Outcome::Inconclusive, Outcome::Missing, Outcome::Skipped])
    {
        return format!("Undecided: it could not be found out whether it keeps {ids}");
    }
    let lacking: Vec<&str> = engine
        .contradictions()
        .filter(|(kind, ..)| *kind == Contradiction::Absent)
        .map(|(_, name, _)| name)
        .collect();
    if !lacking.is_empty() {
        return format!("Undecided: it declares and does not have {}", lacking.join(", "));
    }
    let ran = |contract: &&ContractInfo| run.cases.iter().any(|case| case.id == contract.id);
    let not_run = run.contracts.iter().filter(|contract| !ran(contract)).count();
    if run.cases.is_empty() || not_run > 0 || run.shard.is_some() || run.partial.is_some() {
        return "Undecided: not every contract of the run has a result".to_owned();
    }
    let not_run = absent(run, &engine.label, required);
    if !not_run.is_empty() {
        let first = &not_run[..not_run.len().min(NAMED)];
        let more = not_run.len() - first.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        return format!("Undecided: not every variant was run of {}{more}", first.join(", "));
    }
    match counting.iter().all(|case| case.outcome == Outcome::Kept) {
        true => {
            "Adopt it: every contract that was run is kept in every variant that was run".to_owned()
        }
        false => {
            "Adopt it within the known limits below: what was run is kept otherwise".to_owned()
        }
    }
}

/// The variants of each contract by what became of them.
fn contracts(run: &Run) -> String {
    let mut section = String::from("## Contracts by variant\n\n");
    push_header(&mut section, ["contract", "level", "outcome"].map(str::to_owned));
    for id in run.contract_ids() {
        let cases: Vec<&Case> = run.cases.iter().filter(|case| case.id == id).collect();
        let level = run.contracts.iter().find(|contract| contract.id == id);
        let level = level.map(|contract| contract.level.as_str()).unwrap_or_default();
        let outcome = match cases.is_empty() {
            true => "not run".to_owned(),
            false => by_outcome(&cases),
        };
        push_row(&mut section, [text(id), level.to_owned(), text(&outcome)]);
    }
    section
}

fn by_outcome(cases: &[&Case]) -> String {
    let all: Vec<&str> = cases.iter().map(|case| case.variant.as_str()).collect();
    let mut parts = Vec::new();
    for outcome in Outcome::WORST_FIRST {
        for known in [false, true] {
            let is_one =
                |case: &&&Case| case.outcome == outcome && case.is_known_failure() == known;
            let variants: Vec<&str> =
                cases.iter().filter(is_one).map(|case| case.variant.as_str()).collect();
            let word = if known { format!("known: {outcome}") } else { outcome.to_string() };
            if variants.len() == all.len() {
                return match all.len() {
                    1 => word,
                    count => format!("{word} in all {count} variants"),
                };
            }
            if !variants.is_empty() {
                parts.push(format!("{word} in {}", in_words(&variants, &all)));
            }
        }
    }
    parts.join("; ")
}

/// What the engine is known not to do, why, and where others have met it.
fn limits(run: &Run, engine: &EngineRun) -> String {
    let mut rows: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for case in &run.cases {
        let why = match &case.known {
            Some(reason) if case.is_known_failure() => reason.clone(),
            _ if case.outcome == Outcome::Unsupported => format!("unsupported: {}", case.detail),
            _ => continue,
        };
        rows.entry((&case.id, why)).or_default().push(&case.variant);
    }
    if rows.is_empty() {
        return String::new();
    }
    let variants = run.variants();
    let mut section = String::from("## Known limits\n\n");
    let titles = ["contract", "variants", "why, and what to do", "where the contract comes from"];
    push_header(&mut section, titles.map(str::to_owned));
    for ((id, why), of) in rows {
        let all = variants.get(&(id, engine.label.as_str())).cloned().unwrap_or_default();
        let source = run.contracts.iter().find(|contract| contract.id == id);
        let source = source.map(|contract| contract.source.as_str()).unwrap_or_default();
        let why = clip(&why, OBSERVED_CHARS);
        push_row(&mut section, [id, &in_words(&of, &all), &why, source].map(text));
    }
    section
}

/// What the server said about itself.
fn settings(engine: &EngineRun) -> String {
    let tls = engine.tls.map(|tls| if tls { "on" } else { "off" });
    let mut rows = vec![
        ("server", "version", engine.version.as_str()),
        ("server", "provider", &engine.provider),
        ("isolation", "default level", &engine.isolation),
    ];
    rows.extend(tls.map(|tls| ("connection", "TLS", tls)));
    let maps = [("durability", &engine.durability), ("other", &engine.settings)];
    for (kind, map) in maps {
        rows.extend(map.iter().map(|(name, value)| {
            let kind = if name.contains("timeout") { "timeout" } else { kind };
            (kind, name.as_str(), value.as_str())
        }));
    }
    let mut section = String::from("## Settings that were read from the server\n\n");
    section.push_str("What was found holds for these; run it again after changing one.\n\n");
    push_header(&mut section, ["kind", "setting", "value"].map(str::to_owned));
    for (kind, name, value) in rows.into_iter().filter(|(_, _, value)| !value.is_empty()) {
        push_row(&mut section, [text(kind), text(name), code_in_cell(value)]);
    }
    section
}

/// A value as code where it can stand in a cell: a `|` would end it.
fn code_in_cell(value: &str) -> String {
    if value.contains('|') { text(value) } else { code(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn page(run: &Run) -> String {
        render(run, "postgres:18", &[], &[]).unwrap()
    }

    #[test]
    fn the_decision_is_never_better_than_what_is_known() {
        let mut run = sample::kept();
        assert!(page(&run).starts_with("# postgres PostgreSQL 18.1\n\n**Adopt it: every contract"));
        let spoilt = |outcome| {
            let mut run = sample::kept();
            run.cases[0].outcome = outcome;
            run
        };
        let broken = page(&spoilt(Outcome::Broken));
        assert!(broken.contains("**Do not adopt it for what these contracts guard"), "{broken}");
        for outcome in [Outcome::Errored, Outcome::Inconclusive, Outcome::Skipped] {
            assert!(page(&spoilt(outcome)).contains("**Undecided: "), "{outcome}");
        }
        assert!(page(&spoilt(Outcome::Unsupported)).contains("**Adopt it within the known limits"));
        let mut known = spoilt(Outcome::Broken);
        known.cases[0].known = Some("gaps are locked".to_owned());
        let known = page(&known);
        assert!(known.contains("**Adopt it within the known limits"), "{known}");
        assert!(known.contains("| claim/is-exclusive | default | gaps are locked |"), "{known}");
        run.cases.retain(|case| case.id != "ack/owner-only");
        assert!(page(&run).contains("**Undecided: not every contract"));
        run.cases.clear();
        assert!(page(&run).contains("**Undecided: "));
        let required = Required {
            engine: "postgres:18".to_owned(),
            contract: "claim/is-exclusive".to_owned(),
            variant: "skip-locked".to_owned(),
        };
        let page = render(&sample::kept(), "postgres:18", &[required], &[]).unwrap();
        assert!(page.contains("**Undecided: not every variant was run of claim/is-exclusive**"));
    }

    #[test]
    fn other_engines_are_left_out_and_an_unknown_one_has_no_page() {
        let run = sample::full();
        assert!(!page(&run).contains("mysql"));
        assert_eq!(render(&run, "oracle:23", &[], &[]), None);
    }

    #[test]
    fn statements_are_there_to_be_copied() {
        let texts = vec![("claim".to_owned(), "UPDATE `x`\nSET y = 1;\n".to_owned())];
        let statements = Statements { title: "T".to_owned(), note: "N".to_owned(), texts };
        let page = render(&sample::kept(), "sqlite", &[], &[statements]).unwrap();
        assert!(page.contains("## T\n\nN\n\n### claim\n\n```sql\nUPDATE `x`\nSET y = 1;\n```\n"));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = sample::hostile();
        for engine in &hostile.engines {
            let page = render(&hostile, &engine.label, &[], &[]).unwrap();
            // The command line stands in a code span, where it means nothing.
            let (before, _) = page.split_once("## Run\n").unwrap();
            assert!(!before.contains("<script>"), "{page}");
            assert!(!page.contains('\x1b'));
        }
    }
}
