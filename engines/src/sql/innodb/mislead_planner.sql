-- Statistics taken while nothing was pending, as after an idle night.
ALTER TABLE lease_event STATS_AUTO_RECALC = 0;
INSERT INTO lease_event (event_id, state, due_at, enqueued_at) VALUES
    ('planner-1', 'DONE', 0, 0), ('planner-2', 'DONE', 0, 0), ('planner-3', 'DONE', 0, 0),
    ('planner-4', 'DONE', 0, 0), ('planner-5', 'DONE', 0, 0), ('planner-6', 'DONE', 0, 0);
ANALYZE TABLE lease_event;
DELETE FROM lease_event WHERE event_id LIKE 'planner-%';
