-- The one conditional UPDATE. A second session waits for the row, then PostgreSQL evaluates these
-- guards again on the row's new version and finds it taken: every guard must be here, in the
-- statement that writes, and none in a SELECT before it.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = :until,
       attempt = attempt + 1
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND due_at <= :now -- guard: due
   AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND CAST(:until AS bigint) > CAST(:now AS bigint); -- a lease that is over before it began
