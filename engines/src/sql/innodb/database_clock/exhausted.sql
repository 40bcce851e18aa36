-- Events that used up their attempts without an ack: no claim takes them again. Reading decides nothing.
SELECT event_id
  FROM lease_event FORCE INDEX (lease_event_claim)
 WHERE state = 'PENDING' -- guard: pending
   AND attempt >= :max_attempts -- guard: exhausted
   AND (claim_token IS NULL OR lease_until <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)) -- guard: free
 ORDER BY due_at, event_id
 LIMIT :limit;
