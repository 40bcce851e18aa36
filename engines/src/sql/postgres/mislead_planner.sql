-- Statistics taken while nothing was pending, as after an idle night.
ALTER TABLE lease_event SET (autovacuum_enabled = off);
INSERT INTO lease_event (event_id, state, due_at, enqueued_at)
SELECT 'planner-' || n, 'DONE', 0, 0 FROM generate_series(1, 20) AS n;
ANALYZE lease_event;
DELETE FROM lease_event WHERE event_id LIKE 'planner-%';
