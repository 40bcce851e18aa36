//! A run of every variant, in which little is left out of what a report can say.

use leaseproof_reports::{CapabilityState, Case, Outcome, Rotten, Run, Summary};

use super::{case, kept};

/// The variants of an engine that is a server; those of SQLite are fewer.
fn variants(engine: &str) -> Vec<String> {
    let (first, second): (&[&str], &[&str]) = match engine {
        "sqlite" => (&["", "journal-delete"], &[""]),
        _ => (&["", "skip-locked", "returning"], &["", "repeatable-read", "serializable"]),
    };
    let mut variants = Vec::new();
    for first in first {
        for second in second {
            for clock in ["", "database-clock"] {
                let parts: Vec<&str> =
                    [*first, *second, clock].into_iter().filter(|part| !part.is_empty()).collect();
                let label = parts.join(" ");
                variants.push(if label.is_empty() { "default".to_owned() } else { label });
            }
        }
    }
    variants
}

/// Every variant of three contracts on four engines: some are known failures, some are broken, one
/// engine lacks a capability and another one declares one that it lacks.
pub(crate) fn full() -> Run {
    let mut run = kept();
    run.matrix_name = "full".to_owned();
    run.cases.clear();
    for engine in &run.engines {
        for contract in &run.contracts {
            for variant in variants(&engine.label) {
                let mut case = case(&contract.id, &engine.label, Outcome::Kept);
                case.variant = variant;
                observe(&mut case);
                judge(&mut case);
                run.cases.push(case);
            }
        }
    }
    let waited = CapabilityState::probed(true, false, "the second session waited for 1 s");
    run.engines[1].capabilities.insert("nowait".to_owned(), waited);
    let unannounced = CapabilityState::probed(false, true, "one row came back");
    run.engines[2].capabilities.insert("returning".to_owned(), unannounced);
    run.engines[3].capabilities.insert("nowait".to_owned(), CapabilityState::unprobed(false));
    let kept = run.cases.iter().filter(|case| case.id.starts_with("renew/"));
    run.rotten = vec![Rotten {
        entry: "sqlite * renew/never-shortens".to_owned(),
        reason: "the comparison was made in text".to_owned(),
        kept: kept.filter(|case| case.engine == "sqlite").map(Case::key).collect(),
    }];
    run.summary = Summary::of(&run.cases, &run.engines);
    run
}

fn observe(case: &mut Case) {
    let strict = case.variant.contains("repeatable-read") || case.variant.contains("serializable");
    let loser = match case.engine.as_str() {
        "postgres:18" if strict => "40001 (retryable)",
        "mariadb:11.8" if strict => "1020 (retryable)",
        "mysql:9.7" if case.variant.contains("serializable") => "1213 (retryable)",
        "sqlite" => "BUSY after 5000 ms (retryable)",
        _ => "zero rows",
    };
    if case.id == "claim/is-exclusive" {
        case.observations.insert(Case::LOSER.to_owned(), loser.to_owned());
    } else if case.id == "ack/owner-only" {
        let rows = if strict { "1" } else { "2" };
        case.observations.insert("rows-locked".to_owned(), rows.to_owned());
    }
}

fn judge(case: &mut Case) {
    let (outcome, detail, known) = match (case.id.as_str(), case.engine.as_str()) {
        ("claim/is-exclusive", "mariadb:11.8") if case.variant.contains("repeatable-read") => {
            (Outcome::Broken, "two claims won", Some("a locking read sees a newer snapshot"))
        }
        ("ack/owner-only", "mysql:9.7") if case.variant.contains("serializable") => {
            (Outcome::Broken, "a stale token acked", None)
        }
        ("renew/never-shortens", "postgres:18") => {
            (Outcome::Inconclusive, "the attempts never overlapped", None)
        }
        (_, "mysql:9.7") if case.variant.contains("returning") => {
            (Outcome::Unsupported, "the engine lacks `returning`", None)
        }
        _ => return,
    };
    case.outcome = outcome;
    case.repeats = [(outcome, 1)].into();
    case.detail = detail.to_owned();
    case.known = known.map(str::to_owned);
    if outcome != Outcome::Unsupported {
        case.replay = Some(format!("leaseproof replay latest '{}'", case.key()));
    }
}
