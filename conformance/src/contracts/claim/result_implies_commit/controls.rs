//! Stores that break `claim/result-implies-commit`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::lease::{Claim, Claimed};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "commit-whose-error-is-swallowed",
        &[Planted::Session(|| Box::new(SwallowsCommitError))],
    )
    .seen_in("dotnet/efcore#30851"),
    Control::new(
        "claim-whose-error-is-swallowed",
        &[Planted::Session(|| Box::new(SwallowsClaimError))],
    )
    .seen_in("dotnet/efcore#30851"),
    Control::new("claim-without-a-commit", &[Planted::Session(|| Box::new(ForgetsCommit))]),
    Control::new("rollback-that-commits", &[Planted::Session(|| Box::new(Commits))]),
];

struct SwallowsCommitError;

#[async_trait]
impl SessionFault for SwallowsCommitError {
    async fn commit(&mut self, session: &mut dyn Session) -> Answer<()> {
        drop(session.commit().await);
        Ok(())
    }
}

/// Takes what the statement was about for what it has done.
struct SwallowsClaimError;

#[async_trait]
impl SessionFault for SwallowsClaimError {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> Answer<Claimed> {
        Ok(session.claim(claim).await.unwrap_or(Claimed::Claimed))
    }
}

/// Answers although the claim never gets as far as its commit.
struct ForgetsCommit;

#[async_trait]
impl SessionFault for ForgetsCommit {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> Answer<Claimed> {
        // Refused inside a transaction of the caller's, which the caller will end.
        let own = session.begin().await.is_ok();
        let claimed = session.claim(claim).await;
        if own {
            session.rollback().await?;
        }
        claimed
    }
}

struct Commits;

#[async_trait]
impl SessionFault for Commits {
    async fn rollback(&mut self, session: &mut dyn Session) -> Answer<()> {
        session.commit().await
    }
}
