-- Picks, marks and returns in one statement.
--
-- The locking SELECT is in a MATERIALIZED CTE and not in `IN (SELECT … LIMIT)`: there the planner
-- may run it once per outer row, and each run skips what the statement itself has just locked, so
-- that LIMIT 1 takes every row (saurabhnanda/odd-jobs#115). A CTE that locks runs once.
WITH picked AS MATERIALIZED (
    SELECT event_id
      FROM lease_event
     WHERE state = 'PENDING' -- guard: pending
       AND due_at <= :now -- guard: due
       AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
       AND attempt < :max_attempts -- guard: attempts
       AND CAST(:until AS bigint) > CAST(:now AS bigint)
     ORDER BY due_at, event_id
     LIMIT :limit
       FOR UPDATE SKIP LOCKED
)
UPDATE lease_event AS event
   SET claim_token = :token,
       lease_until = :until,
       attempt = attempt + 1
  FROM picked
 WHERE event.event_id = picked.event_id
RETURNING event.event_id, event.due_at;
