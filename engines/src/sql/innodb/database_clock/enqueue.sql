-- Due so many microseconds from now, by the clock that will judge it. UNIX_TIMESTAMP gives the same
-- number in every session time zone. A plain INSERT: an id that is there already is error 1062.
INSERT INTO lease_event (event_id, due_at, enqueued_at)
VALUES (:event, CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + :due, CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + :enqueued);
