-- The row is locked first, then the clock is read: after a wait for the row the deadline counts from
-- when the lock was got. In `UPDATE … SET lease_until = clock_timestamp() + …` PostgreSQL computes
-- it before the wait, and a long one hands out a lease that is over already; now() is older still.
WITH held AS MATERIALIZED (
    SELECT event_id, state, due_at, claim_token, lease_until, attempt
      FROM lease_event
     WHERE event_id = :event
       FOR UPDATE
), clock AS MATERIALIZED (
    SELECT held.*, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS now
      FROM held
)
UPDATE lease_event AS event
   SET claim_token = :token,
       lease_until = clock.now + :ttl,
       attempt = event.attempt + 1
  FROM clock
 WHERE event.event_id = clock.event_id
   AND clock.state = 'PENDING' -- guard: pending
   AND clock.due_at <= clock.now -- guard: due
   AND (clock.claim_token IS NULL OR clock.lease_until <= clock.now) -- guard: free
   AND clock.attempt < :max_attempts -- guard: attempts
   AND CAST(:ttl AS bigint) > 0; -- a lease that is over before it began
