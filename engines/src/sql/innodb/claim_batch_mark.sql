-- One row by primary key: an UPDATE of a list may scan and lock rows that are not in it.
UPDATE lease_event
   SET claim_token = :token,
       lease_until = :until,
       attempt = attempt + 1
 WHERE event_id = :event;
