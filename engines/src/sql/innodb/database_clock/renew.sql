-- SYSDATE and not NOW: a renewal that waits for the row must be judged by the time at which it gets it.
UPDATE lease_event
   SET lease_until = CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + :ttl
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) -- guard: live
   AND lease_until < CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + :ttl -- guard: longer
;
