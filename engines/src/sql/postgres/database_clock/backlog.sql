-- Claimable now, leases live, leases over, and the age of the oldest pending event in microseconds.
SELECT count(*) FILTER (WHERE due_at <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint) AND (claim_token IS NULL OR lease_until <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)) AND attempt < :max_attempts),
       count(*) FILTER (WHERE lease_until > CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)),
       count(*) FILTER (WHERE lease_until <= CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)),
       coalesce(CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint) - min(enqueued_at), 0)
  FROM lease_event
 WHERE state = 'PENDING';
