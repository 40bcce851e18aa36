-- Only the current owner, only while the lease is live, only to a later deadline.
UPDATE lease_event
   SET lease_until = :until
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > :now -- guard: live
   AND lease_until < :until -- guard: longer
;
