-- Only the current owner, only while the lease is live. The token stays, so that the same worker
-- can learn after an unknown commit that its ack took effect.
UPDATE lease_event
   SET state = 'DONE'
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > :now -- guard: live
;
