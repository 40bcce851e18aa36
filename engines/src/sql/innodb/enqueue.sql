-- A plain INSERT: an id that is there already is error 1062, and an id that does not fit is an
-- error too. INSERT IGNORE would shorten it and report a duplicate that never was.
INSERT INTO lease_event (event_id, due_at, enqueued_at)
VALUES (:event, :due, :enqueued);
