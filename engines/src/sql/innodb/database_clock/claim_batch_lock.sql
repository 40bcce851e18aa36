-- Locks what it takes and steps over what others hold; it never waits, so the statement's start is a
-- good instant, and one that the index can use. The claim ends with the updates that follow.
-- The index is named: on a small table or with wrong statistics the optimizer prefers to scan and sort,
-- and InnoDB then locks every row that it feeds to the sort, so that others find an empty queue.
SELECT event_id
  FROM lease_event FORCE INDEX (lease_event_claim)
 WHERE state = 'PENDING' -- guard: pending
   AND due_at <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) -- guard: due
   AND (claim_token IS NULL OR lease_until <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND :ttl > 0
 ORDER BY due_at, event_id
 LIMIT :limit
   FOR UPDATE SKIP LOCKED;
