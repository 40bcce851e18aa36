-- Claimable now, leases live, leases over, and the age of the oldest pending event in microseconds.
SELECT count(*) FILTER (WHERE due_at <= :now AND (claim_token IS NULL OR lease_until <= :now) AND attempt < :max_attempts),
       count(*) FILTER (WHERE lease_until > :now),
       count(*) FILTER (WHERE lease_until <= :now),
       coalesce(CAST(:now AS bigint) - min(enqueued_at), 0)
  FROM lease_event
 WHERE state = 'PENDING';
