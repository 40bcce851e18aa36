-- The one conditional UPDATE. A second session waits for the row and then reads its newest version,
-- at every isolation level: every guard must be here, in the statement that writes.
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
