//! What an engine takes for equal, and what it counts.

use leaseproof_engines::lease::{Confirmed, EventId};
use leaseproof_engines::store::StoreOptions;

use super::{Seen, as_they_are, claim, closed, filled, opened, session};
use crate::controls::Sabotage;
use crate::harness::target::Target;

/// A confirmation writes the row as it is; its answer is the driver's count of rows.
pub(super) async fn no_change(target: &Target) -> Seen {
    let store = opened(target, as_they_are, StoreOptions::default()).await?;
    let seen = async {
        let store = store.as_ref();
        let mut a = filled(store, 1).await?;
        let held = claim(1, "a");
        a.claim(&held).await?;
        let confirmed = a.confirm(&held.event, &held.token, held.now).await?;
        Ok(match confirmed {
            Confirmed::Confirmed => "counts 1 row: rows that matched".to_owned(),
            Confirmed::Refused => "counts 0 rows: rows that changed".to_owned(),
        })
    };
    let seen = seen.await;
    closed(store, seen).await
}

/// Columns without a collation of their own, as most schemas have them.
pub(super) async fn by_default(target: &Target) -> Seen {
    const DEFAULT: Sabotage = Sabotage::EitherOf(&[
        &[Sabotage::Replace(
            "schema",
            "CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
            "CHARACTER SET utf8mb4",
        )],
        &[Sabotage::Replace(
            "schema",
            "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
            "CHARACTER SET utf8mb4",
        )],
        &[Sabotage::Replace("schema", " COLLATE \"C\"", "")],
        &[],
    ]);
    equal(target, DEFAULT).await
}

/// The collation that is often taken for an exact one.
pub(super) async fn in_utf8mb4_bin(target: &Target) -> Seen {
    let schema = target.engine.statements();
    if !schema.get("schema").is_some_and(|schema| schema.contains("utf8mb4")) {
        return Ok("no such collation".to_owned());
    }
    const BIN: Sabotage = Sabotage::EitherOf(&[
        &[Sabotage::Replace("schema", "utf8mb4_0900_bin", "utf8mb4_bin")],
        &[Sabotage::Replace("schema", "utf8mb4_nopad_bin", "utf8mb4_bin")],
    ]);
    equal(target, BIN).await
}

/// Which spellings of a stored id are found as if they were it.
async fn equal(target: &Target, edit: Sabotage) -> Seen {
    const STORED: &str = "aBc-7é";
    const OTHERS: [(&str, &str); 4] = [
        ("case", "AbC-7É"),
        ("accent", "aBc-7e"),
        ("trailing blank", "aBc-7é "),
        ("another letter", "aBd-7é"),
    ];
    let store =
        opened(target, |statements| edit.edit(statements, &[]), StoreOptions::default()).await?;
    let seen = async {
        let store = store.as_ref();
        let mut a = session(store).await?;
        a.apply_effect("fact", &EventId::new(STORED)).await?;
        let mut same = Vec::new();
        for (difference, spelling) in OTHERS {
            if a.effects("fact", &EventId::new(spelling)).await? > 0 {
                same.push(difference);
            }
        }
        Ok(match same.is_empty() {
            true => "only what is equal byte for byte".to_owned(),
            false => format!("what differs in {}", same.join(", in ")),
        })
    };
    let seen = seen.await;
    closed(store, seen).await
}
