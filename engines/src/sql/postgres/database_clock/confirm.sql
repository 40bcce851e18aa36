-- Asks whether the lease is still the caller's and live, by the clock read after the row is locked.
WITH held AS MATERIALIZED (
    SELECT event_id, state, claim_token, lease_until
      FROM lease_event
     WHERE event_id = :event
       FOR UPDATE
), clock AS MATERIALIZED (
    SELECT held.*, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS now
      FROM held
)
UPDATE lease_event AS event
   SET lease_until = event.lease_until
  FROM clock
 WHERE event.event_id = clock.event_id
   AND clock.state = 'PENDING' -- guard: pending
   AND clock.claim_token = :token -- guard: token
   AND clock.lease_until > clock.now -- guard: live
;
