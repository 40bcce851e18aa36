-- SYSDATE and not NOW: it is read when the row is reached, which is after the wait for its lock. NOW
-- and UTC_TIMESTAMP are those of the statement's start, before the wait.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + :ttl,
       attempt = attempt + 1
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND due_at <= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) -- guard: due
   AND (claim_token IS NULL OR lease_until <= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
   AND :ttl > 0; -- a lease that is over before it began
