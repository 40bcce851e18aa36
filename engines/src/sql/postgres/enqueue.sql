-- An id that is there already is left as it is.
INSERT INTO lease_event (event_id, due_at, enqueued_at)
VALUES (:event, :due, :enqueued)
ON CONFLICT (event_id) DO NOTHING;
