//! The contracts of the family `claim`: one file each, one list.

pub mod batches_disjoint;
pub mod counts_attempts;
pub mod drains_exactly_once;
pub mod finds_late_commit;
pub mod is_exclusive;
pub mod issues_fresh_token;
pub mod leaves_enqueue_unblocked;
pub mod never_exceeds_limit;
pub mod rejects_done;
pub mod rejects_live_lease;
pub mod result_implies_commit;
pub mod second_makes_progress;
pub mod sees_new_work;
pub mod select_grants_nothing;
pub mod skip_locked_is_performed;
pub mod takes_expired_lease;
pub mod waiter_loses;
pub mod works_behind_pooler;

crate::contracts::family! { claim, for_each_claim_contract,
    batches_disjoint,
    counts_attempts,
    drains_exactly_once,
    finds_late_commit,
    is_exclusive,
    issues_fresh_token,
    leaves_enqueue_unblocked,
    never_exceeds_limit,
    rejects_done,
    rejects_live_lease,
    result_implies_commit,
    second_makes_progress,
    sees_new_work,
    select_grants_nothing,
    skip_locked_is_performed,
    takes_expired_lease,
    waiter_loses,
    works_behind_pooler,
}
