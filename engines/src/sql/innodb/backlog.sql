-- Claimable now, leases live, leases over, and the age of the oldest pending event in microseconds.
SELECT CAST(COALESCE(SUM(due_at <= :now AND (claim_token IS NULL OR lease_until <= :now) AND attempt < :max_attempts), 0) AS SIGNED),
       CAST(COALESCE(SUM(lease_until > :now), 0) AS SIGNED),
       CAST(COALESCE(SUM(lease_until <= :now), 0) AS SIGNED),
       CAST(COALESCE(:now - MIN(enqueued_at), 0) AS SIGNED)
  FROM lease_event
 WHERE state = 'PENDING';
