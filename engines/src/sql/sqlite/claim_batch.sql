-- Picks, marks and returns in one statement. The subquery names no outer column, so it runs once.
-- Rows come before the implicit commit: whoever uses them must first run the statement to its end,
-- where a rollback-journal database may still answer SQLITE_BUSY and undo the claim.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = :until,
       attempt = attempt + 1
 WHERE event_id IN (
    SELECT event_id
      FROM lease_event
     WHERE state = 'PENDING' -- guard: pending
       AND due_at <= :now -- guard: due
       AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
       AND attempt < :max_attempts -- guard: attempts
       AND :until > :now
     ORDER BY due_at, event_id
     LIMIT :limit
 )
RETURNING event_id, due_at;
