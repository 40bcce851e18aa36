-- Picks, marks and returns in one statement; whoever uses its rows must first run it to its end.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :ttl,
       attempt = attempt + 1
 WHERE event_id IN (
    SELECT event_id
      FROM lease_event
     WHERE state = 'PENDING' -- guard: pending
       AND due_at <= CAST(unixepoch('subsec') * 1000000 AS INTEGER) -- guard: due
       AND (claim_token IS NULL OR lease_until <= CAST(unixepoch('subsec') * 1000000 AS INTEGER)) -- guard: free
       AND attempt < :max_attempts -- guard: attempts
       AND :ttl > 0
     ORDER BY due_at, event_id
     LIMIT :limit
 )
RETURNING event_id, due_at;
