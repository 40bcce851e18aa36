-- Claimable now, leases live, leases over, and the age of the oldest pending event in microseconds.
SELECT CAST(COALESCE(SUM(due_at <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) AND (claim_token IS NULL OR lease_until <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)) AND attempt < :max_attempts), 0) AS SIGNED),
       CAST(COALESCE(SUM(lease_until > CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)), 0) AS SIGNED),
       CAST(COALESCE(SUM(lease_until <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)), 0) AS SIGNED),
       CAST(COALESCE(CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) - MIN(enqueued_at), 0) AS SIGNED)
  FROM lease_event
 WHERE state = 'PENDING';
