-- Schema 5 of the ledger: the same events in a quarter of the room. docs/reference/ledger.md, "How events are stored".
--
-- What an event says is stored once, in typed columns, and texts that come again and again as numbers. The view events
-- puts together what the table events was: the same columns, and the same payload to the byte, for that is what the
-- hash chain was computed from. segments, segment_nodes and jobs are views likewise.

-- The table events waits under another name until its rows were taken over (common/ledger/store/conversion.cpp). What
-- was made from it is made anew.
DROP VIEW configurations;
DROP VIEW job_segments;
DROP VIEW core_hours_by_month;
DROP VIEW who_owes_whom;
DROP VIEW work_by_owner;
DROP VIEW run_shares;
DROP TRIGGER events_are_not_updated;
DROP TRIGGER events_are_not_deleted;
DROP INDEX open_segments;
DROP INDEX jobs_by_submit;
DROP INDEX jobs_by_array;
DROP INDEX jobs_by_het_job;
DROP TABLE segment_nodes;
DROP TABLE segments;
DROP TABLE jobs;
ALTER TABLE events RENAME TO events_of_schema_4;

-- The truth: these five tables. Rows are added, never edited.

CREATE TABLE event_rows (
  seq          INTEGER PRIMARY KEY,  -- 1, 2, 3, ... without holes
  kind         INTEGER NOT NULL,     -- 0: see event_texts, 1: job_described; of runs (and, one more, of waits): 2
                                     -- segment_opened, 4 segment_closed, 6 segment_retracted
  received     INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  job          INTEGER,              -- from here on NULL where events of this kind have no such member
  anchor       INTEGER,
  ordinal      INTEGER,
  organization INTEGER,              -- a word, like placement, reason and job_state
  processors   INTEGER,
  placement    INTEGER,              -- NULL, too, where the event has none
  reason       INTEGER,
  job_state    INTEGER,
  hash         BLOB NOT NULL         -- SHA-256 over the previous row's hash and what the view events says of this one
);

-- The nodes of segment_opened.
CREATE TABLE event_nodes (
  seq        INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  node       INTEGER NOT NULL,       -- a word
  processors INTEGER NOT NULL,
  cpus       INTEGER,                -- from here on NULL where the event has none
  memory     INTEGER,
  gres       INTEGER,                -- a word: the whole list
  PRIMARY KEY (seq, position)
) WITHOUT ROWID;

-- The members of job_described. Texts are words, but for the name, of which there are many.
CREATE TABLE event_jobs (
  job          INTEGER NOT NULL,
  submit       INTEGER NOT NULL,
  seq          INTEGER NOT NULL,
  organization INTEGER NOT NULL,
  array_job    INTEGER,              -- NULL: 0
  array_task   INTEGER,
  het_job      INTEGER,              -- NULL: 0
  user_id      INTEGER NOT NULL,
  group_id     INTEGER NOT NULL,
  account      INTEGER NOT NULL,
  partition    INTEGER NOT NULL,
  qos          INTEGER NOT NULL,
  wckey        INTEGER NOT NULL,
  name         BLOB NOT NULL,        -- the text itself, or the number of a word if JSON writes it in another way
  PRIMARY KEY (job, submit)
) WITHOUT ROWID;

-- Events of the other kinds, which are few: as they are. observations_mistimed is new with this schema.
CREATE TABLE event_texts (
  seq     INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,
  key     TEXT NOT NULL UNIQUE,
  payload TEXT NOT NULL
);

CREATE TABLE words (
  word INTEGER PRIMARY KEY,
  json TEXT NOT NULL UNIQUE,         -- as payloads have it
  text TEXT NOT NULL                 -- what it means
);

-- A projection: by which events a segment is known.
CREATE TABLE segment_events (
  job       INTEGER NOT NULL,
  anchor    INTEGER NOT NULL,
  kind      INTEGER NOT NULL,        -- 0: run, 1: wait
  ordinal   INTEGER NOT NULL,
  opened    INTEGER,
  closed    INTEGER,
  retracted INTEGER,
  PRIMARY KEY (job, anchor, kind, ordinal)
) WITHOUT ROWID;

-- What the daemon is asked for while it serves: jobs that run or could start, newest jobs, whole arrays.
CREATE INDEX open_segments ON segment_events(job) WHERE closed IS NULL AND retracted IS NULL;
CREATE INDEX jobs_by_submit ON event_jobs(submit);
CREATE INDEX jobs_by_array ON event_jobs(array_job) WHERE array_job IS NOT NULL;
CREATE INDEX jobs_by_het_job ON event_jobs(het_job) WHERE het_job IS NOT NULL;

CREATE TRIGGER events_are_not_updated BEFORE UPDATE ON event_rows
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON event_rows
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER event_nodes_are_not_updated BEFORE UPDATE ON event_nodes
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER event_nodes_are_not_deleted BEFORE DELETE ON event_nodes
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER event_jobs_are_not_updated BEFORE UPDATE ON event_jobs
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER event_jobs_are_not_deleted BEFORE DELETE ON event_jobs
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER event_texts_are_not_updated BEFORE UPDATE ON event_texts
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER event_texts_are_not_deleted BEFORE DELETE ON event_texts
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER words_are_not_updated BEFORE UPDATE ON words
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER words_are_not_deleted BEFORE DELETE ON words
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;

-- Every event as the hash chain has it. Members of a payload are in alphabetical order; those that say nothing are left
-- out if older ledgers do not have them.
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
         ',"processors":' || e.processors || '}'
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

CREATE VIEW segments AS
SELECT CASE s.kind WHEN 0 THEN 'run' ELSE 'wait' END                       AS kind,
       s.job                                                               AS job,
       s.anchor                                                            AS anchor,
       s.ordinal                                                           AS ordinal,
       (SELECT w.text FROM words w WHERE w.word = o.organization)          AS organization,
       o.at                                                                AS begin,       -- NULL: only the end is known
       c.at                                                                AS end,         -- NULL: still open
       o.processors                                                        AS processors,
       (SELECT w.text FROM words w WHERE w.word = c.reason)                AS reason,
       (SELECT w.text FROM words w WHERE w.word = c.job_state)             AS job_state,
       r.at                                                                AS retracted    -- it counts for nothing
FROM segment_events s
LEFT JOIN event_rows o ON o.seq = s.opened
LEFT JOIN event_rows c ON c.seq = s.closed
LEFT JOIN event_rows r ON r.seq = s.retracted;

CREATE VIEW segment_nodes AS
SELECT CASE s.kind WHEN 0 THEN 'run' ELSE 'wait' END                       AS kind,
       s.job                                                               AS job,
       s.anchor                                                            AS anchor,
       s.ordinal                                                           AS ordinal,
       w.text                                                              AS node,
       n.processors                                                        AS processors,
       COALESCE(n.cpus, 0)                                                 AS cpus,
       COALESCE(n.memory, 0)                                               AS memory,      -- MiB
       COALESCE((SELECT g.text FROM words g WHERE g.word = n.gres), '')    AS gres         -- "gres/gpu=2,gres/license=1"
FROM segment_events s
JOIN event_nodes n ON n.seq = s.opened
JOIN words w ON w.word = n.node;

CREATE VIEW jobs AS
SELECT j.job                                                               AS job,
       j.submit                                                            AS submit,
       (SELECT w.text FROM words w WHERE w.word = j.organization)          AS organization,
       j.array_job                                                         AS array_job,   -- NULL: not of an array
       j.array_task                                                        AS array_task,
       j.het_job                                                           AS het_job,     -- NULL: not heterogeneous
       j.user_id                                                           AS user_id,
       j.group_id                                                          AS group_id,
       (SELECT w.text FROM words w WHERE w.word = j.account)               AS account,
       (SELECT w.text FROM words w WHERE w.word = j.partition)             AS partition,
       (SELECT w.text FROM words w WHERE w.word = j.qos)                   AS qos,
       CASE typeof(j.name) WHEN 'integer' THEN (SELECT w.text FROM words w WHERE w.word = j.name) ELSE j.name END AS name,
       (SELECT w.text FROM words w WHERE w.word = j.wckey)                 AS wckey
FROM event_jobs j;

-- Views for auditors. They compute in doubles: good for reading, while psi and phi themselves are exact.

-- What each part of each run took from whom. A run still going counts up to the moment the last event was received.
CREATE VIEW run_shares AS
WITH known(upto) AS (SELECT COALESCE((SELECT received FROM events ORDER BY seq DESC LIMIT 1), 0))
SELECT s.job                                                                AS job,
       s.anchor                                                             AS anchor,
       s.ordinal                                                            AS ordinal,
       s.organization                                                       AS organization,
       n.node                                                               AS node,
       COALESCE(o.organization, 'commons')                                  AS owner,
       MAX(s.begin, COALESCE(o.begin, s.begin))                             AS begin,
       MIN(COALESCE(s.end, k.upto), COALESCE(o.end, s.end, k.upto))         AS end,
       n.processors / 1e6 * COALESCE(o.parts_per_million, 1000000) / 1e6    AS processors
FROM segments s
JOIN known k
JOIN segment_nodes n ON n.kind = s.kind AND n.job = s.job AND n.anchor = s.anchor AND n.ordinal = s.ordinal
LEFT JOIN ownership o ON o.node = n.node AND o.begin < COALESCE(s.end, k.upto) AND (o.end IS NULL OR o.end > s.begin)
WHERE s.kind = 'run' AND s.retracted IS NULL AND s.begin < COALESCE(s.end, k.upto);

-- Work that each organization's jobs did on each owner's processors.
CREATE VIEW work_by_owner AS
SELECT organization,
       owner,
       SUM(processors * (end - begin))                    AS processor_seconds,
       ROUND(SUM(processors * (end - begin)) / 3600.0, 3) AS core_hours
FROM run_shares
GROUP BY organization, owner
ORDER BY organization, owner;

-- The same between each two organizations, one direction set off against the other.
CREATE VIEW who_owes_whom AS
SELECT w.organization                                                        AS debtor,
       w.owner                                                               AS creditor,
       w.processor_seconds                                                   AS used_processor_seconds,
       COALESCE(r.processor_seconds, 0.0)                                    AS returned_processor_seconds,
       w.processor_seconds - COALESCE(r.processor_seconds, 0.0)              AS owed_processor_seconds,
       ROUND((w.processor_seconds - COALESCE(r.processor_seconds, 0.0)) / 3600.0, 3) AS owed_core_hours
FROM work_by_owner w
LEFT JOIN work_by_owner r ON r.organization = w.owner AND r.owner = w.organization
WHERE w.organization <> w.owner AND w.processor_seconds > COALESCE(r.processor_seconds, 0.0)
ORDER BY owed_processor_seconds DESC, debtor, creditor;

-- Core-hours per organization and month (UTC): got by its jobs, given by its processors.
CREATE VIEW core_hours_by_month AS
WITH RECURSIVE pieces(organization, owner, processors, begin, upto, end) AS (
  SELECT organization, owner, processors, begin,
         MIN(end, CAST(strftime('%s', begin, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM run_shares
  UNION ALL
  SELECT organization, owner, processors, upto,
         MIN(end, CAST(strftime('%s', upto, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM pieces WHERE upto < end
),
sides(month, organization, got, given) AS (
  SELECT strftime('%Y-%m', begin, 'unixepoch'), organization, processors * (upto - begin) / 3600.0, 0.0 FROM pieces
  UNION ALL
  SELECT strftime('%Y-%m', begin, 'unixepoch'), owner, 0.0, processors * (upto - begin) / 3600.0 FROM pieces
)
SELECT month,
       organization,
       ROUND(SUM(got), 3)              AS got_core_hours,
       ROUND(SUM(given), 3)            AS given_core_hours,
       ROUND(SUM(given) - SUM(got), 3) AS difference
FROM sides
GROUP BY month, organization
ORDER BY month, organization;

-- The segments of jobs with readable times (UTC): SELECT * FROM job_segments WHERE job = 17;
CREATE VIEW job_segments AS
SELECT s.job                               AS job,
       s.kind                              AS kind,
       datetime(s.anchor, 'unixepoch')     AS anchor_utc,
       s.ordinal                           AS ordinal,
       s.organization                      AS organization,
       datetime(s.begin, 'unixepoch')      AS begin_utc,
       datetime(s.end, 'unixepoch')        AS end_utc,
       s.end - s.begin                     AS seconds,
       s.processors / 1e6                  AS processors,
       (SELECT group_concat(n.node || '=' || printf('%.12g', n.processors / 1e6), ' ') FROM segment_nodes n
        WHERE n.kind = s.kind AND n.job = s.job AND n.anchor = s.anchor AND n.ordinal = s.ordinal) AS nodes,
       s.reason                            AS reason,
       s.job_state                         AS job_state,
       datetime(s.retracted, 'unixepoch')  AS retracted_utc
FROM segments s
ORDER BY s.job, s.anchor, s.kind, s.ordinal;

-- The configurations in the order they were loaded.
CREATE VIEW configurations AS
SELECT t.seq AS seq, datetime(e.at, 'unixepoch') AS at_utc, json_extract(t.payload, '$.text') AS text
FROM event_texts t
JOIN event_rows e ON e.seq = t.seq
WHERE t.key >= 'configuration_loaded/' AND t.key < 'configuration_loaded0'
ORDER BY t.seq;
