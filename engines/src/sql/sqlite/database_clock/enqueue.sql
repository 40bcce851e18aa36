-- Due so many microseconds from now, by the clock that will judge it. An id that is there already is
-- left as it is.
INSERT INTO lease_event (event_id, due_at, enqueued_at)
VALUES (:event, CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :due, CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :enqueued)
ON CONFLICT (event_id) DO NOTHING;
