//! Stores that break `replay/reserves-exactly`.

use crate::controls::answers::NeverNew;
use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, Reserved};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("ledger-folds-case-or-accent", &[Planted::Store(Fault::LedgerFoldsCaseOrAccent)])
        .seen_in("agentscope-ai/agentscope-java#3217, s9y/additional_plugins#161"),
    Control::new(
        "ledger-shortens-ids-in-silence",
        &[Planted::Store(Fault::LedgerShortensIdsInSilence)],
    )
    .seen_in("ioBroker/ioBroker.sql#520"),
    Control::new(
        "ledger-ignores-trailing-blanks",
        &[Planted::Store(Fault::LedgerIgnoresTrailingBlanks)],
    ),
    Control::new("consumer-lowers-ids", &[Planted::Store(Fault::ConsumerLowersIds)]),
    Control::new("consumer-cuts-ids", &[Planted::Store(Fault::ConsumerCutsIds)]),
    Control::new("ledger-takes-all-ids-for-one", &[Planted::Store(Fault::LedgerTakesAllIdsForOne)]),
    Control::new("ledger-folds-consumers", &[Planted::Store(Fault::LedgerFoldsConsumers)]),
    Control::new("ledger-forgets-consumers", &[Planted::Store(Fault::LedgerForgetsConsumers)]),
    Control::new("ledger-without-key", &[Planted::Store(Fault::LedgerWithoutKey)]),
    Control::new("error-taken-for-duplicate", &[Planted::Session(|| Box::new(ErrorIsDuplicate))]),
    Control::new("every-id-taken-for-duplicate", &[Planted::Session(|| Box::new(NeverNew))]),
];

/// Takes whatever goes wrong with an insert for a duplicate.
struct ErrorIsDuplicate;

#[async_trait]
impl SessionFault for ErrorIsDuplicate {
    async fn reserve(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Answer<Reserved> {
        Ok(session.reserve(consumer, event).await.unwrap_or(Reserved::Duplicate))
    }
}
