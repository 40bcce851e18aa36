//! The contracts that every engine is held to: one file each, one list.

use crate::contract::Contract;

pub mod ack_accepts_current_owner;
pub mod ack_bulk_locks_in_order;
pub mod ack_races_reclaim;
pub mod ack_rejects_expired;
pub mod ack_rejects_stale_token;
pub mod ack_retry_is_idempotent;
pub mod ack_unblocked_by_foreign_claim;
pub mod claim_batches_disjoint;
pub mod claim_counts_attempts;
pub mod claim_drains_exactly_once;
pub mod claim_finds_late_commit;
pub mod claim_is_exclusive;
pub mod claim_issues_fresh_token;
pub mod claim_leaves_enqueue_unblocked;
pub mod claim_never_exceeds_limit;
pub mod claim_rejects_done;
pub mod claim_rejects_live_lease;
pub mod claim_result_implies_commit;
pub mod claim_second_makes_progress;
pub mod claim_sees_new_work;
pub mod claim_select_grants_nothing;
pub mod claim_skip_locked_is_performed;
pub mod claim_takes_expired_lease;
pub mod claim_waiter_loses;
pub mod claim_works_behind_pooler;
pub mod fence_compares_exactly;
pub mod renew_counts_matched_rows;
pub mod renew_extends_current_owner;
pub mod renew_never_shortens;
pub mod renew_never_shortens_out_of_order;
pub mod renew_races_reclaim;
pub mod renew_rejects_done;
pub mod renew_rejects_expired;
pub mod renew_rejects_expired_after_wait;
pub mod renew_rejects_stale_token;
pub mod replay_applies_effect_once;
pub mod replay_reserves_exactly;
pub mod replay_reserves_with_effect;
pub mod replay_returns_after_lost_ack;
pub mod replay_three_way_race;
pub mod stop_fails_on_lease_loss;
pub mod stop_leaves_unacked_recoverable;
pub mod stop_never_acks_expired;
pub mod stop_release_is_claimable;
pub mod stop_reports_backlog;
pub mod stop_starts_no_new_batch;
pub mod time_instant_keeps_order;
pub mod time_session_independent;
pub mod time_uses_one_clock;
pub mod unit_aborted_leaves_nothing;
pub mod unit_classifies_errors;
pub mod unit_declares_write_intent;

macro_rules! contracts {
    ($($contract:ident),+ $(,)?) => { contracts! { @ ($) $($contract)+ } };
    (@ ($d:tt) $($contract:ident)+) => {
        /// Every registered contract, in report order.
        pub static REGISTRY: &[&Contract] = &[$(&$contract::CONTRACT),+];

        /// The module of every registered contract, in the same order.
        pub static MODULES: &[&str] = &[$(stringify!($contract)),+];

        /// Invokes `then! { args... contract }` once for every registered contract.
        #[macro_export]
        macro_rules! for_each_contract {
            ($d then:ident! { $d ($d args:tt)* }) => {
                $($d then! { $d ($d args)* $contract })+
            };
        }
    };
}

contracts! {
    ack_accepts_current_owner,
    ack_bulk_locks_in_order,
    ack_races_reclaim,
    ack_rejects_expired,
    ack_rejects_stale_token,
    ack_retry_is_idempotent,
    ack_unblocked_by_foreign_claim,
    claim_batches_disjoint,
    claim_counts_attempts,
    claim_drains_exactly_once,
    claim_finds_late_commit,
    claim_is_exclusive,
    claim_issues_fresh_token,
    claim_leaves_enqueue_unblocked,
    claim_never_exceeds_limit,
    claim_rejects_done,
    claim_rejects_live_lease,
    claim_result_implies_commit,
    claim_second_makes_progress,
    claim_sees_new_work,
    claim_select_grants_nothing,
    claim_skip_locked_is_performed,
    claim_takes_expired_lease,
    claim_waiter_loses,
    claim_works_behind_pooler,
    fence_compares_exactly,
    renew_counts_matched_rows,
    renew_extends_current_owner,
    renew_never_shortens,
    renew_never_shortens_out_of_order,
    renew_races_reclaim,
    renew_rejects_done,
    renew_rejects_expired,
    renew_rejects_expired_after_wait,
    renew_rejects_stale_token,
    replay_applies_effect_once,
    replay_reserves_exactly,
    replay_reserves_with_effect,
    replay_returns_after_lost_ack,
    replay_three_way_race,
    stop_fails_on_lease_loss,
    stop_leaves_unacked_recoverable,
    stop_never_acks_expired,
    stop_release_is_claimable,
    stop_reports_backlog,
    stop_starts_no_new_batch,
    time_instant_keeps_order,
    time_session_independent,
    time_uses_one_clock,
    unit_aborted_leaves_nothing,
    unit_classifies_errors,
    unit_declares_write_intent,
}
