-- The row is locked first, then the clock is read. A renewal that waits for the row must be judged by
-- the time at which it gets it: `lease_until > clock_timestamp()` in a plain UPDATE is not evaluated
-- again unless the row has changed meanwhile, and now() never moves (nextlyhq/nextly#777).
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
   SET lease_until = clock.now + :ttl
  FROM clock
 WHERE event.event_id = clock.event_id
   AND clock.state = 'PENDING' -- guard: pending
   AND clock.claim_token = :token -- guard: token
   AND clock.lease_until > clock.now -- guard: live
   AND clock.lease_until < clock.now + :ttl -- guard: longer
;
