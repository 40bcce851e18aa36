-- Whether this very token acked the event before. A locking read: in a transaction that has read before, a
-- plain SELECT would answer from the old snapshot, in which the event is still pending.
SELECT event_id
  FROM lease_event
 WHERE event_id = :event
   AND state = 'DONE' -- guard: done
   AND claim_token = :token -- guard: token
  LOCK IN SHARE MODE;
