//! The faults by name.

/// Declares the faults, each with its stable name.
macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident = $name:literal,)+) => {
        /// A rule that a store breaks, by what it means. How it is written down is the store's affair.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Fault {
            $($(#[$doc])* $fault,)+
        }

        impl Fault {
            /// Every fault, by name.
            pub const ALL: &[Self] = &[$(Self::$fault),+];

            /// The stable name.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$fault => $name,)+
                }
            }
        }
    };
}

faults! {
    /// Ack at the deadline.
    AckAtTheDeadline = "ack-at-the-deadline",
    /// Ack by local time.
    AckByLocalTime = "ack-by-local-time",
    /// Ack by the clock of the statements start.
    AckByTheClockOfTheStatementsStart = "ack-by-the-clock-of-the-statements-start",
    /// Ack by the worker's clock.
    AckByTheWorkersClock = "ack-by-the-worker's-clock",
    /// Ack by token alone.
    AckByTokenAlone = "ack-by-token-alone",
    /// Ack compares numbers.
    AckComparesNumbers = "ack-compares-numbers",
    /// Ack compares whole seconds.
    AckComparesWholeSeconds = "ack-compares-whole-seconds",
    /// Ack ends too early.
    AckEndsTooEarly = "ack-ends-too-early",
    /// Ack forgets who acked.
    AckForgetsWhoAcked = "ack-forgets-who-acked",
    /// Ack lives for the first lease.
    AckLivesForTheFirstLease = "ack-lives-for-the-first-lease",
    /// Ack matches a pattern.
    AckMatchesAPattern = "ack-matches-a-pattern",
    /// Ack of a released event.
    AckOfAReleasedEvent = "ack-of-a-released-event",
    /// Ack of an event that nobody owns.
    AckOfAnEventThatNobodyOwns = "ack-of-an-event-that-nobody-owns",
    /// Ack overwrites a finished event.
    AckOverwritesAFinishedEvent = "ack-overwrites-a-finished-event",
    /// Ack pads blanks.
    AckPadsBlanks = "ack-pads-blanks",
    /// Ack refuses second attempt.
    AckRefusesSecondAttempt = "ack-refuses-second-attempt",
    /// Ack that changes nothing.
    AckThatChangesNothing = "ack-that-changes-nothing",
    /// Ack that gives up.
    AckThatGivesUp = "ack-that-gives-up",
    /// Ack under a text collation.
    AckUnderATextCollation = "ack-under-a-text-collation",
    /// Ack with an empty token.
    AckWithAnEmptyToken = "ack-with-an-empty-token",
    /// Ack within a grace period.
    AckWithinAGracePeriod = "ack-within-a-grace-period",
    /// Ack within the first lease only.
    AckWithinTheFirstLeaseOnly = "ack-within-the-first-lease-only",
    /// Ack without live guard.
    AckWithoutLiveGuard = "ack-without-live-guard",
    /// Ack without token guard.
    AckWithoutTokenGuard = "ack-without-token-guard",
    /// Ages from due instant.
    AgesFromDueInstant = "ages-from-due-instant",
    /// Ages from newest event.
    AgesFromNewestEvent = "ages-from-newest-event",
    /// Backlog compares text.
    BacklogComparesText = "backlog-compares-text",
    /// Batch is locked before it is filtered.
    BatchIsLockedBeforeItIsFiltered = "batch-is-locked-before-it-is-filtered",
    /// Batch that takes live leases.
    BatchThatTakesLiveLeases = "batch-that-takes-live-leases",
    /// Batch without a maximum.
    BatchWithoutAMaximum = "batch-without-a-maximum",
    /// Burial of a live lease.
    BurialOfALiveLease = "burial-of-a-live-lease",
    /// Burial of what is done.
    BurialOfWhatIsDone = "burial-of-what-is-done",
    /// Burial that finds nothing.
    BurialThatFindsNothing = "burial-that-finds-nothing",
    /// Candidates are locked before they are filtered.
    CandidatesAreLockedBeforeTheyAreFiltered = "candidates-are-locked-before-they-are-filtered",
    /// Candidates by local time.
    CandidatesByLocalTime = "candidates-by-local-time",
    /// Candidates by the worker's clock.
    CandidatesByTheWorkersClock = "candidates-by-the-worker's-clock",
    /// Candidates compare text.
    CandidatesCompareText = "candidates-compare-text",
    /// Candidates locked with their gaps.
    CandidatesLockedWithTheirGaps = "candidates-locked-with-their-gaps",
    /// Candidates overlook expired lease.
    CandidatesOverlookExpiredLease = "candidates-overlook-expired-lease",
    /// Candidates skip expired second attempts.
    CandidatesSkipExpiredSecondAttempts = "candidates-skip-expired-second-attempts",
    /// Candidates sort text.
    CandidatesSortText = "candidates-sort-text",
    /// Candidates that end leases a microsecond late.
    CandidatesThatEndLeasesAMicrosecondLate = "candidates-that-end-leases-a-microsecond-late",
    /// Candidates without limit.
    CandidatesWithoutLimit = "candidates-without-limit",
    /// Candidates without pending guard.
    CandidatesWithoutPendingGuard = "candidates-without-pending-guard",
    /// Choice that is not checked again.
    ChoiceThatIsNotCheckedAgain = "choice-that-is-not-checked-again",
    /// Claim after the deadline only.
    ClaimAfterTheDeadlineOnly = "claim-after-the-deadline-only",
    /// Claim by a lock of the session.
    ClaimByALockOfTheSession = "claim-by-a-lock-of-the-session",
    /// Claim by event id only.
    ClaimByEventIdOnly = "claim-by-event-id-only",
    /// Claim by local time.
    ClaimByLocalTime = "claim-by-local-time",
    /// Claim by the worker's clock.
    ClaimByTheWorkersClock = "claim-by-the-worker's-clock",
    /// Claim compares text.
    ClaimComparesText = "claim-compares-text",
    /// Claim refuses expired lease.
    ClaimRefusesExpiredLease = "claim-refuses-expired-lease",
    /// Claim takes live lease.
    ClaimTakesLiveLease = "claim-takes-live-lease",
    /// Claim that counts nothing.
    ClaimThatCountsNothing = "claim-that-counts-nothing",
    /// Claim that ends leases a microsecond early.
    ClaimThatEndsLeasesAMicrosecondEarly = "claim-that-ends-leases-a-microsecond-early",
    /// Claim that ends leases a microsecond late.
    ClaimThatEndsLeasesAMicrosecondLate = "claim-that-ends-leases-a-microsecond-late",
    /// Claim that keeps the workers token.
    ClaimThatKeepsTheWorkersToken = "claim-that-keeps-the-workers-token",
    /// Claim that never takes over.
    ClaimThatNeverTakesOver = "claim-that-never-takes-over",
    /// Claim that readmits the workers own rows.
    ClaimThatReadmitsTheWorkersOwnRows = "claim-that-readmits-the-workers-own-rows",
    /// Claim without a maximum.
    ClaimWithoutAMaximum = "claim-without-a-maximum",
    /// Claim without free guard.
    ClaimWithoutFreeGuard = "claim-without-free-guard",
    /// Claim without pending guard.
    ClaimWithoutPendingGuard = "claim-without-pending-guard",
    /// Claims without pending guard.
    ClaimsWithoutPendingGuard = "claims-without-pending-guard",
    /// Clause that is not accepted.
    ClauseThatIsNotAccepted = "clause-that-is-not-accepted",
    /// Confirm by local time.
    ConfirmByLocalTime = "confirm-by-local-time",
    /// Confirm under a text collation.
    ConfirmUnderATextCollation = "confirm-under-a-text-collation",
    /// Confirm without live guard.
    ConfirmWithoutLiveGuard = "confirm-without-live-guard",
    /// Confirm without pending guard.
    ConfirmWithoutPendingGuard = "confirm-without-pending-guard",
    /// Confirm without token guard.
    ConfirmWithoutTokenGuard = "confirm-without-token-guard",
    /// Confirmation by the worker's clock.
    ConfirmationByTheWorkersClock = "confirmation-by-the-worker's-clock",
    /// Consumer cuts ids.
    ConsumerCutsIds = "consumer-cuts-ids",
    /// Consumer lowers ids.
    ConsumerLowersIds = "consumer-lowers-ids",
    /// Counts done events.
    CountsDoneEvents = "counts-done-events",
    /// Counts events not due.
    CountsEventsNotDue = "counts-events-not-due",
    /// Counts every lease as live.
    CountsEveryLeaseAsLive = "counts-every-lease-as-live",
    /// Counts leases as live at their deadline.
    CountsLeasesAsLiveAtTheirDeadline = "counts-leases-as-live-at-their-deadline",
    /// Earlier ack pads blanks.
    EarlierAckPadsBlanks = "earlier-ack-pads-blanks",
    /// Earlier ack under a text collation.
    EarlierAckUnderATextCollation = "earlier-ack-under-a-text-collation",
    /// Enqueue by the worker's clock.
    EnqueueByTheWorkersClock = "enqueue-by-the-worker's-clock",
    /// Enqueue that revives what is done.
    EnqueueThatRevivesWhatIsDone = "enqueue-that-revives-what-is-done",
    /// Equal deadline counts as renewal.
    EqualDeadlineCountsAsRenewal = "equal-deadline-counts-as-renewal",
    /// Expired owner learns already acked.
    ExpiredOwnerLearnsAlreadyAcked = "expired-owner-learns-already-acked",
    /// Expired row is claimable three times.
    ExpiredRowIsClaimableThreeTimes = "expired-row-is-claimable-three-times",
    /// Index that the planner passes over.
    IndexThatThePlannerPassesOver = "index-that-the-planner-passes-over",
    /// The index of the claim does not hold the order in which events are taken.
    IndexWithoutOrder = "index-without-order",
    /// Index without the order.
    IndexWithoutTheOrder = "index-without-the-order",
    /// Ledger folds case or accent.
    LedgerFoldsCaseOrAccent = "ledger-folds-case-or-accent",
    /// Ledger folds consumers.
    LedgerFoldsConsumers = "ledger-folds-consumers",
    /// Ledger forgets consumers.
    LedgerForgetsConsumers = "ledger-forgets-consumers",
    /// Ledger ignores trailing blanks.
    LedgerIgnoresTrailingBlanks = "ledger-ignores-trailing-blanks",
    /// Ledger shortens ids in silence.
    LedgerShortensIdsInSilence = "ledger-shortens-ids-in-silence",
    /// Ledger takes all ids for one.
    LedgerTakesAllIdsForOne = "ledger-takes-all-ids-for-one",
    /// Ledger without key.
    LedgerWithoutKey = "ledger-without-key",
    /// Limit after the lock.
    LimitAfterTheLock = "limit-after-the-lock",
    /// Limit below the lock.
    LimitBelowTheLock = "limit-below-the-lock",
    /// Limit in a locking subquery.
    LimitInALockingSubquery = "limit-in-a-locking-subquery",
    /// Lock clause that does nothing.
    LockClauseThatDoesNothing = "lock-clause-that-does-nothing",
    /// Lock of a batch that ends leases a microsecond early.
    LockOfABatchThatEndsLeasesAMicrosecondEarly = "lock-of-a-batch-that-ends-leases-a-microsecond-early",
    /// Lock of a batch that ends leases a microsecond late.
    LockOfABatchThatEndsLeasesAMicrosecondLate = "lock-of-a-batch-that-ends-leases-a-microsecond-late",
    /// Lock of a batch without free guard.
    LockOfABatchWithoutFreeGuard = "lock-of-a-batch-without-free-guard",
    /// Lock of a batch without limit.
    LockOfABatchWithoutLimit = "lock-of-a-batch-without-limit",
    /// Lock of a batch without pending guard.
    LockOfABatchWithoutPendingGuard = "lock-of-a-batch-without-pending-guard",
    /// Lock that is not taken.
    LockThatIsNotTaken = "lock-that-is-not-taken",
    /// Lock that waits.
    LockThatWaits = "lock-that-waits",
    /// Locked batch compares text.
    LockedBatchComparesText = "locked-batch-compares-text",
    /// Locked batch overlooks expired lease.
    LockedBatchOverlooksExpiredLease = "locked-batch-overlooks-expired-lease",
    /// Locked batch skips expired second attempts.
    LockedBatchSkipsExpiredSecondAttempts = "locked-batch-skips-expired-second-attempts",
    /// Longer checked in a subselect.
    LongerCheckedInASubselect = "longer-checked-in-a-subselect",
    /// Longer compares text.
    LongerComparesText = "longer-compares-text",
    /// Overlooks events due now.
    OverlooksEventsDueNow = "overlooks-events-due-now",
    /// Overlooks expired leases as claimable.
    OverlooksExpiredLeasesAsClaimable = "overlooks-expired-leases-as-claimable",
    /// Overlooks free events.
    OverlooksFreeEvents = "overlooks-free-events",
    /// Ownership checked by the application.
    OwnershipCheckedByTheApplication = "ownership-checked-by-the-application",
    /// Text has the collation that is often taken for an exact one, and ignores trailing blanks.
    PaddingBinaryCollation = "padding-binary-collation",
    /// Rejects done ack that changes nothing.
    RejectsDoneAckThatChangesNothing = "rejects-done-ack-that-changes-nothing",
    /// Release by event id only.
    ReleaseByEventIdOnly = "release-by-event-id-only",
    /// Release clears only the deadline.
    ReleaseClearsOnlyTheDeadline = "release-clears-only-the-deadline",
    /// Release clears only the token.
    ReleaseClearsOnlyTheToken = "release-clears-only-the-token",
    /// Release cuts long tokens.
    ReleaseCutsLongTokens = "release-cuts-long-tokens",
    /// Release defers the row.
    ReleaseDefersTheRow = "release-defers-the-row",
    /// Release parks the row.
    ReleaseParksTheRow = "release-parks-the-row",
    /// Release skips rows that became due later.
    ReleaseSkipsRowsThatBecameDueLater = "release-skips-rows-that-became-due-later",
    /// Release skips second attempts.
    ReleaseSkipsSecondAttempts = "release-skips-second-attempts",
    /// Release that counts.
    ReleaseThatCounts = "release-that-counts",
    /// Release under a text collation.
    ReleaseUnderATextCollation = "release-under-a-text-collation",
    /// Release uses up an attempt.
    ReleaseUsesUpAnAttempt = "release-uses-up-an-attempt",
    /// Release waits for the deadline.
    ReleaseWaitsForTheDeadline = "release-waits-for-the-deadline",
    /// Released row is neither new nor expired to candidates.
    ReleasedRowIsNeitherNewNorExpiredToCandidates = "released-row-is-neither-new-nor-expired-to-candidates",
    /// Released row is neither new nor expired to claim.
    ReleasedRowIsNeitherNewNorExpiredToClaim = "released-row-is-neither-new-nor-expired-to-claim",
    /// Released row is neither new nor expired to locked batch.
    ReleasedRowIsNeitherNewNorExpiredToLockedBatch = "released-row-is-neither-new-nor-expired-to-locked-batch",
    /// Released row is neither new nor expired to returning batch.
    ReleasedRowIsNeitherNewNorExpiredToReturningBatch = "released-row-is-neither-new-nor-expired-to-returning-batch",
    /// Renew at the deadline.
    RenewAtTheDeadline = "renew-at-the-deadline",
    /// Renew by event id only.
    RenewByEventIdOnly = "renew-by-event-id-only",
    /// Renew by local time.
    RenewByLocalTime = "renew-by-local-time",
    /// Renew by the clock of the statements start.
    RenewByTheClockOfTheStatementsStart = "renew-by-the-clock-of-the-statements-start",
    /// Renew by token alone.
    RenewByTokenAlone = "renew-by-token-alone",
    /// Renew compares numbers.
    RenewComparesNumbers = "renew-compares-numbers",
    /// Renew compares text.
    RenewComparesText = "renew-compares-text",
    /// Renew compares whole seconds.
    RenewComparesWholeSeconds = "renew-compares-whole-seconds",
    /// Renew cuts long tokens.
    RenewCutsLongTokens = "renew-cuts-long-tokens",
    /// Renew drops nul.
    RenewDropsNul = "renew-drops-nul",
    /// Renew drops the fraction.
    RenewDropsTheFraction = "renew-drops-the-fraction",
    /// Renew ends in 2038.
    RenewEndsIn2038 = "renew-ends-in-2038",
    /// Renew ends too early.
    RenewEndsTooEarly = "renew-ends-too-early",
    /// Renew forgets the sign.
    RenewForgetsTheSign = "renew-forgets-the-sign",
    /// Renew judges by the new deadline.
    RenewJudgesByTheNewDeadline = "renew-judges-by-the-new-deadline",
    /// Renew of whatever is claimed.
    RenewOfWhateverIsClaimed = "renew-of-whatever-is-claimed",
    /// Renew pads blanks.
    RenewPadsBlanks = "renew-pads-blanks",
    /// Renew rounds to floating point.
    RenewRoundsToFloatingPoint = "renew-rounds-to-floating-point",
    /// Renew that changes nothing.
    RenewThatChangesNothing = "renew-that-changes-nothing",
    /// Renew to any deadline ahead.
    RenewToAnyDeadlineAhead = "renew-to-any-deadline-ahead",
    /// Renew to any other deadline.
    RenewToAnyOtherDeadline = "renew-to-any-other-deadline",
    /// Renew under a text collation.
    RenewUnderATextCollation = "renew-under-a-text-collation",
    /// Renew wants a minimum extension.
    RenewWantsAMinimumExtension = "renew-wants-a-minimum-extension",
    /// Renew with an empty token.
    RenewWithAnEmptyToken = "renew-with-an-empty-token",
    /// Renew within a grace period.
    RenewWithinAGracePeriod = "renew-within-a-grace-period",
    /// Renew without live guard.
    RenewWithoutLiveGuard = "renew-without-live-guard",
    /// Renew without longer guard.
    RenewWithoutLongerGuard = "renew-without-longer-guard",
    /// Renew without pending guard.
    RenewWithoutPendingGuard = "renew-without-pending-guard",
    /// Renewal by the worker's clock.
    RenewalByTheWorkersClock = "renewal-by-the-worker's-clock",
    /// Repeated ack counts as new.
    RepeatedAckCountsAsNew = "repeated-ack-counts-as-new",
    /// Repeated ack is refused.
    RepeatedAckIsRefused = "repeated-ack-is-refused",
    /// Repeated ack is refused after the deadline.
    RepeatedAckIsRefusedAfterTheDeadline = "repeated-ack-is-refused-after-the-deadline",
    /// Reserves with effect rollback that commits.
    ReservesWithEffectRollbackThatCommits = "reserves-with-effect-rollback-that-commits",
    /// Returning batch compares text.
    ReturningBatchComparesText = "returning-batch-compares-text",
    /// Returning batch overlooks expired lease.
    ReturningBatchOverlooksExpiredLease = "returning-batch-overlooks-expired-lease",
    /// Returning batch skips expired second attempts.
    ReturningBatchSkipsExpiredSecondAttempts = "returning-batch-skips-expired-second-attempts",
    /// Rollback that commits.
    RollbackThatCommits = "rollback-that-commits",
    /// Second makes progress index without the order.
    SecondMakesProgressIndexWithoutTheOrder = "second-makes-progress-index-without-the-order",
    /// Skips an update that changes nothing.
    SkipsAnUpdateThatChangesNothing = "skips-an-update-that-changes-nothing",
    /// Stale worker learns already acked.
    StaleWorkerLearnsAlreadyAcked = "stale-worker-learns-already-acked",
    /// State kept on a connection.
    StateKeptOnAConnection = "state-kept-on-a-connection",
    /// Unit begins as a reader.
    UnitBeginsAsAReader = "unit-begins-as-a-reader",
    /// Unit that locks the table.
    UnitThatLocksTheTable = "unit-that-locks-the-table",
    /// Unit without transaction.
    UnitWithoutTransaction = "unit-without-transaction",
    /// Update returning that ends leases a microsecond early.
    UpdateReturningThatEndsLeasesAMicrosecondEarly = "update-returning-that-ends-leases-a-microsecond-early",
    /// Update returning that ends leases a microsecond late.
    UpdateReturningThatEndsLeasesAMicrosecondLate = "update-returning-that-ends-leases-a-microsecond-late",
    /// Update returning without free guard.
    UpdateReturningWithoutFreeGuard = "update-returning-without-free-guard",
    /// Update returning without limit.
    UpdateReturningWithoutLimit = "update-returning-without-limit",
    /// Update returning without pending guard.
    UpdateReturningWithoutPendingGuard = "update-returning-without-pending-guard",
    /// Text has the collation that a team gets which asks for none.
    UsualCollation = "usual-collation",
}
