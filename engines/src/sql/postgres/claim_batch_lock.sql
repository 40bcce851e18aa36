-- Locks what it takes and steps over what others hold. The claim ends with the update that follows.
SELECT event_id
  FROM lease_event
 WHERE state = 'PENDING' -- guard: pending
   AND due_at <= :now -- guard: due
   AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND CAST(:until AS bigint) > CAST(:now AS bigint)
 ORDER BY due_at, event_id
 LIMIT :limit
   FOR UPDATE SKIP LOCKED;
