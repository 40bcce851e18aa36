-- Locks what it takes and steps over what others hold. The claim ends with the update that follows.
SELECT event_id
  FROM lease_event
 WHERE state = 'PENDING' -- guard: pending
   AND due_at <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint) -- guard: due
   AND (claim_token IS NULL OR lease_until <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND CAST(:ttl AS bigint) > 0
 ORDER BY due_at, event_id
 LIMIT :limit
   FOR UPDATE SKIP LOCKED;
