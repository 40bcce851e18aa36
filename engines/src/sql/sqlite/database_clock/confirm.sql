-- Asks whether the lease is still the caller's and live, by matching its row and changing nothing.
UPDATE lease_event
   SET lease_until = lease_until
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > CAST(unixepoch('subsec') * 1000000 AS INTEGER) -- guard: live
;
