-- In the transaction of the effect: both are there or neither is.
-- A plain INSERT, whose error 1062 is the duplicate. INSERT IGNORE turns a value that does not fit
-- into a shorter one and then reports a duplicate of an event that was never seen; ON DUPLICATE
-- KEY UPDATE reports one row for both under the flag CLIENT_FOUND_ROWS.
INSERT INTO lease_reservation (consumer, event_id)
VALUES (:consumer, :event);
