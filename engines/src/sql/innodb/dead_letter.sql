-- One row by primary key, and every guard again in the statement that writes: the last attempt may
-- still be alive. Token and deadline stay, to tell who had it last.
UPDATE lease_event
   SET state = 'DEAD'
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND attempt >= :max_attempts -- guard: exhausted
   AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
;
