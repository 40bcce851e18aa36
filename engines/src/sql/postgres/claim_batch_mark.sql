-- The row is locked by this transaction, so what the lock found free still is.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = :until,
       attempt = attempt + 1
 WHERE event_id = :event;
