//! What an engine takes for equal, and what it counts.

use leaseproof_engines::faults::{CannotPlant, Fault};
use leaseproof_engines::lease::{Confirmed, EventId};
use leaseproof_engines::store::StoreOptions;

use super::{Seen, as_they_are, claim, closed, filled, opened, session, with};
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
    equal(target, Fault::UsualCollation).await
}

/// The collation that is often taken for an exact one.
pub(super) async fn in_utf8mb4_bin(target: &Target) -> Seen {
    equal(target, Fault::PaddingBinaryCollation).await
}

/// Which spellings of a stored id are found as if they were it.
async fn equal(target: &Target, collation: Fault) -> Seen {
    const STORED: &str = "aBc-7é";
    const OTHERS: [(&str, &str); 4] = [
        ("case", "AbC-7É"),
        ("accent", "aBc-7e"),
        ("trailing blank", "aBc-7é "),
        ("another letter", "aBd-7é"),
    ];
    if let Err(CannotPlant::NoWords(_)) =
        target.engine.plant(collation, &mut target.engine.statements())
    {
        return Ok("no such collation".to_owned());
    }
    let store = opened(target, with(target, collation), StoreOptions::default()).await?;
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
