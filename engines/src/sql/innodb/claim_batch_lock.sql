-- Locks what it takes and steps over what others hold. A locking read sees the newest rows, not the
-- snapshot. The claim ends with the updates that follow in the same transaction.
-- The index is named: on a small table or with wrong statistics the optimizer prefers to scan and sort,
-- and InnoDB then locks every row that it feeds to the sort, so that others find an empty queue.
SELECT event_id
  FROM lease_event FORCE INDEX (lease_event_claim)
 WHERE state = 'PENDING' -- guard: pending
   AND due_at <= :now -- guard: due
   AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND :until > :now
 ORDER BY due_at, event_id
 LIMIT :limit
   FOR UPDATE SKIP LOCKED;
