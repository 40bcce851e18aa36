-- Whether this very token acked the event before.
SELECT event_id
  FROM lease_event
 WHERE event_id = :event
   AND state = 'DONE' -- guard: done
   AND claim_token = :token -- guard: token
;
