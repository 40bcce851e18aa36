-- Reading grants nothing: what is returned must still be won by the guarded UPDATE of a claim.
-- statement_timestamp() is stable, so the index can serve `due_at <= …`; clock_timestamp() is not.
SELECT event_id
  FROM lease_event
 WHERE state = 'PENDING' -- guard: pending
   AND due_at <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint) -- guard: due
   AND (claim_token IS NULL OR lease_until <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
 ORDER BY due_at, event_id
 LIMIT :limit;
