-- Statistics taken while nothing was pending, as after an idle night.
INSERT INTO lease_event (event_id, state, due_at, enqueued_at)
WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 20)
SELECT 'planner-' || n, 'DONE', 0, 0 FROM series;
ANALYZE;
DELETE FROM lease_event WHERE event_id LIKE 'planner-%';
