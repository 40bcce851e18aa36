-- Only the current owner, only while the lease is live by the clock read after the wait for the file,
-- only to a later deadline.
UPDATE lease_event
   SET lease_until = CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :ttl
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > CAST(unixepoch('subsec') * 1000000 AS INTEGER) -- guard: live
   AND lease_until < CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :ttl -- guard: longer
;
