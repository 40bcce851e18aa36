-- The one conditional UPDATE. SQLite has one writer at a time: a second session waits for the file
-- and then sees what the first one wrote, as long as it has not read before in a transaction.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = :until,
       attempt = attempt + 1
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND due_at <= :now -- guard: due
   AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND :until > :now; -- a lease that is over before it began
