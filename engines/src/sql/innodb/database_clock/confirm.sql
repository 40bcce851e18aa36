-- Asks whether the lease is still the caller's and live, by the clock read when the row is reached.
-- Its answer is the number of matched rows, which needs the flag CLIENT_FOUND_ROWS.
UPDATE lease_event
   SET lease_until = lease_until
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) -- guard: live
;
