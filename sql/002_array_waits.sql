-- Schema 2: of how many like tasks of an array a wait is, and the event hindsight_defined, which older programs do not know.

ALTER TABLE event_rows ADD COLUMN tasks INTEGER;  -- NULL, too, where the event has none

DROP VIEW events;
CREATE VIEW events AS
SELECT e.seq AS seq,
       CASE e.kind
       WHEN 0 THEN (SELECT t.key FROM event_texts t WHERE t.seq = e.seq)
       WHEN 1 THEN 'job_described/' || e.job || '/' || e.at
       ELSE CASE WHEN e.kind < 4 THEN 'segment_opened' WHEN e.kind < 6 THEN 'segment_closed'
                 WHEN e.kind < 8 THEN 'segment_retracted' END ||
            CASE e.kind & 1 WHEN 0 THEN '/run/' ELSE '/wait/' END || e.job || '/' || e.anchor || '/' || e.ordinal
       END AS key,
       e.at AS at,
       e.received AS received,
       CASE WHEN e.kind = 0 THEN (SELECT t.kind FROM event_texts t WHERE t.seq = e.seq)
            WHEN e.kind < 2 THEN 'job_described' WHEN e.kind < 4 THEN 'segment_opened'
            WHEN e.kind < 6 THEN 'segment_closed' WHEN e.kind < 8 THEN 'segment_retracted' END AS kind,
       CASE
       WHEN e.kind = 0 THEN (SELECT t.payload FROM event_texts t WHERE t.seq = e.seq)
       WHEN e.kind = 1 THEN (
         SELECT '{"account":' || (SELECT json FROM words WHERE word = j.account) ||
                ',"array_job":' || COALESCE(j.array_job, 0) ||
                ',"array_task":' || COALESCE(j.array_task, 'null') ||
                ',"group_id":' || j.group_id ||
                ',"het_job":' || COALESCE(j.het_job, 0) ||
                ',"job":' || e.job ||
                ',"name":' || CASE typeof(j.name) WHEN 'integer' THEN (SELECT json FROM words WHERE word = j.name)
                              ELSE '"' || j.name || '"' END ||
                ',"organization":' || (SELECT json FROM words WHERE word = j.organization) ||
                ',"partition":' || (SELECT json FROM words WHERE word = j.partition) ||
                ',"qos":' || (SELECT json FROM words WHERE word = j.qos) ||
                ',"submit":' || e.at ||
                ',"user_id":' || j.user_id ||
                ',"wckey":' || (SELECT json FROM words WHERE word = j.wckey) || '}'
         FROM event_jobs j WHERE j.job = e.job AND j.submit = e.at AND j.seq = e.seq)
       WHEN e.kind < 4 THEN
         '{"anchor":' || e.anchor || ',"begin":' || e.at || ',"job":' || e.job ||
         CASE e.kind WHEN 2 THEN ',"kind":"run","nodes":[' ELSE ',"kind":"wait","nodes":[' END ||
         COALESCE((SELECT group_concat(share) FROM (
           SELECT '{' || COALESCE('"cpus":' || n.cpus || ',', '') ||
                  CASE WHEN n.gres IS NULL THEN '' ELSE '"gres":' || (SELECT json FROM words WHERE word = n.gres) || ',' END ||
                  COALESCE('"memory":' || n.memory || ',', '') ||
                  '"node":' || (SELECT json FROM words WHERE word = n.node) ||
                  ',"processors":' || n.processors || '}' AS share
           FROM event_nodes n WHERE n.seq = e.seq ORDER BY n.position)), '') ||
         '],"ordinal":' || e.ordinal ||
         ',"organization":' || (SELECT json FROM words WHERE word = e.organization) ||
         CASE WHEN e.placement IS NULL THEN '' ELSE
           ',"placement":' || (SELECT json FROM words WHERE word = e.placement) END ||
         ',"processors":' || e.processors ||
         COALESCE(',"released":' || e.released, '') || COALESCE(',"tasks":' || e.tasks, '') ||
         COALESCE(',"waited_as":' || e.waited_as, '') || '}'
       WHEN e.kind < 6 THEN
         '{"anchor":' || e.anchor || ',"end":' || e.at || ',"job":' || e.job ||
         ',"job_state":' || (SELECT json FROM words WHERE word = e.job_state) ||
         CASE e.kind WHEN 4 THEN ',"kind":"run","ordinal":' ELSE ',"kind":"wait","ordinal":' END || e.ordinal ||
         ',"reason":' || (SELECT json FROM words WHERE word = e.reason) || '}'
       WHEN e.kind < 8 THEN
         '{"anchor":' || e.anchor || ',"at":' || e.at || ',"job":' || e.job ||
         CASE e.kind WHEN 6 THEN ',"kind":"run","ordinal":' ELSE ',"kind":"wait","ordinal":' END || e.ordinal || '}'
       END AS payload,
       e.hash AS hash
FROM event_rows e;
