-- Only the current owner, only while the lease is live, by the clock read when the row is reached.
UPDATE lease_event
   SET state = 'DONE'
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) -- guard: live
;
