-- An UPDATE that begins its own transaction waits for the file before it reads the clock, which is
-- then the same throughout the statement. Resolution: one millisecond.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :ttl,
       attempt = attempt + 1
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND due_at <= CAST(unixepoch('subsec') * 1000000 AS INTEGER) -- guard: due
   AND (claim_token IS NULL OR lease_until <= CAST(unixepoch('subsec') * 1000000 AS INTEGER)) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND :ttl > 0; -- a lease that is over before it began
