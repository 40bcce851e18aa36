-- Reading grants nothing: what is returned must still be won by the guarded UPDATE of a claim.
-- NOW is constant for the statement, so the index can serve `due_at <= …`; SYSDATE is not.
SELECT event_id
  FROM lease_event FORCE INDEX (lease_event_claim)
 WHERE state = 'PENDING' -- guard: pending
   AND due_at <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) -- guard: due
   AND (claim_token IS NULL OR lease_until <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
 ORDER BY due_at, event_id
 LIMIT :limit;
