-- Reading grants nothing: what is returned must still be won by the guarded UPDATE of a claim.
SELECT event_id
  FROM lease_event FORCE INDEX (lease_event_claim)
 WHERE state = 'PENDING' -- guard: pending
   AND due_at <= :now -- guard: due
   AND (claim_token IS NULL OR lease_until <= :now) -- guard: free
   AND attempt < :max_attempts -- guard: attempts
 ORDER BY due_at, event_id
 LIMIT :limit;
