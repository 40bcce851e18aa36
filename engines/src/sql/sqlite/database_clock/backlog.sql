-- Claimable now, leases live, leases over, and the age of the oldest pending event in microseconds.
SELECT count(*) FILTER (WHERE due_at <= CAST(unixepoch('subsec') * 1000000 AS INTEGER) AND (claim_token IS NULL OR lease_until <= CAST(unixepoch('subsec') * 1000000 AS INTEGER)) AND attempt < :max_attempts),
       count(*) FILTER (WHERE lease_until > CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
       count(*) FILTER (WHERE lease_until <= CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
       coalesce(CAST(unixepoch('subsec') * 1000000 AS INTEGER) - min(enqueued_at), 0)
  FROM lease_event
 WHERE state = 'PENDING';
