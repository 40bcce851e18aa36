-- Picks, marks and returns in one statement. The locking SELECT is in a MATERIALIZED CTE and not in
-- `IN (SELECT … LIMIT)`, which may run it once per outer row (saurabhnanda/odd-jobs#115).
-- It never waits for a row, so the statement's own start is a good instant, and one an index can use.
WITH picked AS MATERIALIZED (
    SELECT event_id
      FROM lease_event
     WHERE state = 'PENDING' -- guard: pending
       AND due_at <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint) -- guard: due
       AND (claim_token IS NULL OR lease_until <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)) -- guard: free
       AND attempt < :max_attempts -- guard: attempts
       AND CAST(:ttl AS bigint) > 0
     ORDER BY due_at, event_id
     LIMIT :limit
       FOR UPDATE SKIP LOCKED
)
UPDATE lease_event AS event
   SET claim_token = :token,
       lease_until = CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) + :ttl,
       attempt = attempt + 1
  FROM picked
 WHERE event.event_id = picked.event_id
RETURNING event.event_id, event.due_at;
