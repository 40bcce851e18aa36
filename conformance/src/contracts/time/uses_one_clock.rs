//! No worker's clock has a say in what a lease is.
//!
//! # Promise
//! With leases on the engine's clock, a worker whose own clock is 90 s fast or slow gets the same answer
//! to every operation as one whose clock is right: what it enqueues is due when it says, its leases last
//! as long as it asks for, and it can neither take a lease that is live nor be kept from one that is over.
//!
//! # Steps
//! For every pair of workers whose clocks are 90 s slow, right, or 90 s fast:
//! 1. A enqueues an event that is due now, and one that is due in ten minutes. B can claim the first at
//!    once, and the other neither by its id nor in a batch before the ten minutes are over.
//! 2. A claims until the fiftieth minute. Half a minute before, B cannot take it and A can confirm and
//!    renew it; half a minute after the new deadline A can neither renew nor ack, and B claims it.
//! 3. Others are kept out until half a minute before the deadlines that were asked for, and let in at them.
//! 4. B acks half a minute before its own deadline.
//!
//! # How a violation looks
//! A fast worker takes leases that are live, and work is done twice; a slow one hands out leases that are
//! over, or waits for those that are; where insert and takeover use different clocks, work lies idle for
//! the sum of lease and skew.
//!
//! # Source
//! `lukas-krecan/ShedLock#231`, `lukas-krecan/ShedLock#639`, `Krzysztof318/MailFathom#1989`,
//! `johanhaleby/occurrent#659`, `johanhaleby/occurrent#662`, `constructorfabric/gears-rust#4036`,
//! `FoundationDB/fdb-kubernetes-operator#241`.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Claimed, Confirmed, EventId, Renewed};
use leaseproof_engines::store::SessionOptions;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "time/uses-one-clock",
    promise: "no worker's clock has a say in what a lease is",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Database,
    source: "lukas-krecan/ShedLock#231, lukas-krecan/ShedLock#639, Krzysztof318/MailFathom#1989, \
             johanhaleby/occurrent#659, johanhaleby/occurrent#662, constructorfabric/gears-rust#4036, \
             FoundationDB/fdb-kubernetes-operator#241",
    controls: controls::CONTROLS,
    doc: include_str!("uses_one_clock.rs"),
    run: |context| Box::pin(run(context)),
};

/// By how much a clock may be wrong: more than the half step that the steps keep from every deadline.
const SKEW_US: i64 = 90_000_000;

async fn run(context: &Context) -> Judged {
    let mut pairs = 0;
    for a_skew in [-SKEW_US, 0, SKEW_US] {
        for b_skew in [-SKEW_US, 0, SKEW_US] {
            let pair = Pair {
                context,
                number: pairs,
                skews: format!("A {:+} s, B {:+} s", a_skew / 1_000_000, b_skew / 1_000_000),
                a: skewed(context, "A", a_skew).await?,
                b: skewed(context, "B", b_skew).await?,
            };
            pair.judge().await?;
            pairs += 1;
        }
    }
    Ok(vec![format!("{pairs} pairs of workers with clocks up to 90 s wrong got the same answers")])
}

async fn skewed(context: &Context, name: &str, clock_skew: i64) -> Result<Actor, Finding> {
    let options = SessionOptions { clock_skew, ..SessionOptions::default() };
    Ok(context.actor_with(&format!("{name} {:+} s", clock_skew / 1_000_000), &options).await?)
}

struct Pair<'case> {
    context: &'case Context,
    number: usize,
    skews: String,
    a: Actor,
    b: Actor,
}

impl Pair<'_> {
    async fn judge(mut self) -> Result<(), Finding> {
        let event = self.due().await?;
        self.leased(&event).await
    }

    fn step(&self, what: &str) -> String {
        format!("{}: {what}", self.skews)
    }

    /// What is enqueued is due when it was said to be.
    async fn due(&mut self) -> Result<EventId, Finding> {
        let context = self.context;
        let now = context.new_event(&format!("NOW-{}", self.number));
        let mut later = context.new_event(&format!("LATER-{}", self.number));
        later.due = context.at(10);
        self.a.enqueue(&[now.clone(), later.clone()]).await?;
        // Half a minute before it is due, and half a minute after.
        for (at, claimable) in [(context.just_before(10), false), (half_past(context, 10), true)] {
            let candidates = self.b.candidates(99, at).await?;
            let step = self.step("whether B finds an event that is due in ten minutes");
            check_eq(&step, candidates.contains(&later.event), claimable)?;
            let batch = context.batch("B", 99, at, context.at(900));
            let claimed = self.b.claim_by(Way::One, &later.event, &batch).await?;
            let step = self.step("whether B claims an event that is due in ten minutes");
            check_eq(&step, claimed, claimable)?;
        }
        Ok(now.event)
    }

    /// A lease lasts as long as it was asked for, for its owner and for everybody else.
    async fn leased(&mut self, event: &EventId) -> Result<(), Finding> {
        let context = self.context;
        let (at, before) = (|step| context.at(step), |step| context.just_before(step));
        let (mine, theirs) = (context.token("A"), context.token("B"));
        let claimed = self.a.claim(event, &mine, at(20), at(50)).await?;
        check_eq(&self.step("A claims until 50"), claimed, Claimed::Claimed)?;
        let step = self.step("A has claimed until 50");
        check_standing(&step, &mut self.b, event, &Standing::held(&mine, at(50))).await?;
        let claimed = self.b.claim(event, &theirs, before(50), at(90)).await?;
        check_eq(&self.step("B claims before 50"), claimed, Claimed::NotClaimed)?;
        if self.a.has(StoreCapability::Confirm) {
            let confirmed = self.a.confirm(event, &mine, before(50)).await?;
            check_eq(&self.step("A confirms before 50"), confirmed, Confirmed::Confirmed)?;
        }
        let renewed = self.a.renew(event, &mine, before(50), at(70)).await?;
        check_eq(&self.step("A renews before 50"), renewed, Renewed::Renewed)?;
        let step = self.step("A has renewed until 70");
        check_standing(&step, &mut self.b, event, &Standing::held(&mine, at(70))).await?;
        let claimed = self.b.claim(event, &theirs, before(70), at(90)).await?;
        check_eq(&self.step("B claims before 70"), claimed, Claimed::NotClaimed)?;

        let late = half_past(context, 70);
        let renewed = self.a.renew(event, &mine, late, at(90)).await?;
        check_eq(&self.step("A renews after 70"), renewed, Renewed::Refused)?;
        let acked = self.a.ack(event, &mine, late).await?;
        check_eq(&self.step("A acks after 70"), acked, Acked::Refused)?;
        if self.a.has(StoreCapability::Confirm) {
            let confirmed = self.a.confirm(event, &mine, late).await?;
            check_eq(&self.step("A confirms after 70"), confirmed, Confirmed::Refused)?;
        }
        let claimed = self.b.claim(event, &theirs, late, at(90)).await?;
        check_eq(&self.step("B claims after 70"), claimed, Claimed::Claimed)?;
        let acked = self.b.ack(event, &theirs, before(90)).await?;
        check_eq(&self.step("B acks before 90"), acked, Acked::Acked)
    }
}

/// Half a step after `step`.
fn half_past(context: &Context, step: i64) -> leaseproof_engines::lease::Instant {
    context.just_before(step + 1)
}
