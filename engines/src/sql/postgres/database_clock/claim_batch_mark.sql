-- The row is locked by this transaction, so what the lock found free still is.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) + :ttl,
       attempt = attempt + 1
 WHERE event_id = :event;
