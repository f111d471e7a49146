-- Schema 1 of the ledger. docs/reference/ledger.md explains every table, column and view.
--
-- Times are whole seconds since the Unix epoch (UTC), processors millionths of a weighted processor. Values that outgrow
-- 64 bits are decimal text. Nothing here needs an SQLite newer than 3.24, so that auditors' machines can read it.

-- ---- The truth: rows are added, never edited. Everything else, checkpoints included, can be made again from it. ----------

-- What an event says is stored once, in typed columns, and texts that come again and again as numbers. The view events puts
-- together the columns, and the payload to the byte, from which the hash chain is computed.

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
  hash         BLOB NOT NULL,        -- SHA-256 over the previous row's hash and what the view events says of this one
  released     INTEGER,              -- NULL, too, where the event has none; so is waited_as
  waited_as    INTEGER
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

-- Events of the other kinds, which are few: as they are.

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

-- Every event as the hash chain has it. Members of a payload are in alphabetical order; optional ones are left out where they
-- say nothing.

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
         COALESCE(',"released":' || e.released, '') || COALESCE(',"waited_as":' || e.waited_as, '') || '}'
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

-- One row. Drawn once, when the ledger is made, so that a signed head says which ledger it speaks of.

CREATE TABLE identity (
  ledger TEXT NOT NULL            -- 32 hexadecimal digits
);

INSERT INTO identity VALUES (lower(hex(randomblob(16))));

CREATE TRIGGER identity_is_not_updated BEFORE UPDATE ON identity WHEN EXISTS (SELECT 1 FROM event_rows)
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its identity'); END;

CREATE TRIGGER identity_is_not_deleted BEFORE DELETE ON identity
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its identity'); END;

-- Heads that shapleyd signed, as it would publish them. They add nothing to the books: what proves the past is a copy of such a
-- text somewhere else.

CREATE TABLE heads (
  sequence INTEGER PRIMARY KEY,   -- of the event that the head names
  at       INTEGER NOT NULL,      -- when it was signed
  text     TEXT    NOT NULL
);

-- One row in a ledger whose closed periods were archived: where it goes on from. docs/internals/archives.md.

CREATE TABLE genesis (
  sequence     INTEGER NOT NULL,  -- of the archive's last event: the ledger's own begin with the next
  hash         BLOB    NOT NULL,  -- of that event
  events       INTEGER NOT NULL,  -- how many the archive has of its own
  archive      TEXT    NOT NULL,  -- the archive's file, without its directory
  begin        INTEGER NOT NULL,  -- of the period, or of the first of the periods, in the archive
  until        INTEGER NOT NULL,  -- its end: the ledger's own periods begin here
  horizon      INTEGER NOT NULL,  -- the books here know nothing that could be corrected from before this
  books        TEXT    NOT NULL,  -- after the archive's last event, as checkpoints have them
  books_hash   BLOB    NOT NULL,  -- SHA-256 over hash, until and books, as of checkpoints
  copies       INTEGER NOT NULL,  -- how many of the archive's events are here, too
  copies_hash  BLOB    NOT NULL   -- a hash chain of their own over them
);

CREATE TRIGGER genesis_is_not_updated BEFORE UPDATE ON genesis
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its begin'); END;

CREATE TRIGGER genesis_is_not_deleted BEFORE DELETE ON genesis
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its begin'); END;

-- ---- Checkpoints: the books as text, so that a restart reads less. ------------------------------------------------------

CREATE TABLE checkpoint_parts (
  id   INTEGER PRIMARY KEY,
  text TEXT    NOT NULL
);

CREATE TABLE checkpoints (
  sequence INTEGER PRIMARY KEY,   -- the books hold every event up to this one
  at       INTEGER NOT NULL,
  parts    TEXT    NOT NULL,      -- numbers of checkpoint_parts, a space between them: one after the other they are the text
  sha      BLOB    NOT NULL       -- SHA-256 over the hash of event `sequence`, `at` and the text
);

-- ---- Projections: kept in the same transaction as the events, rebuilt from them on demand. ------------------------------

-- By which events a segment is known.

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

-- What changed of a job after it was described first.

CREATE TABLE job_changes (
  job          INTEGER NOT NULL,
  submit       INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  organization TEXT NOT NULL,
  array_task   INTEGER,
  account      TEXT NOT NULL,
  partition    TEXT NOT NULL,
  qos          TEXT NOT NULL,
  name         TEXT NOT NULL,
  wckey        TEXT NOT NULL,
  PRIMARY KEY (job, submit, at)
) WITHOUT ROWID;

CREATE TABLE organizations (
  at       INTEGER NOT NULL,      -- this list is in force from here to the next one
  position INTEGER NOT NULL,      -- from 0; ties of ranks go to the lowest
  name     TEXT    NOT NULL,
  PRIMARY KEY (at, position)
) WITHOUT ROWID;

CREATE TABLE periods (
  at     INTEGER PRIMARY KEY,
  period TEXT NOT NULL
);

-- Who owned a node when, with every later statement taken into account. The parts of an instant sum to 1,000,000. A node
-- without rows belongs to commons.

CREATE TABLE ownership (
  node              TEXT    NOT NULL,
  begin             INTEGER NOT NULL,  -- 0: always
  organization      TEXT    NOT NULL,
  end               INTEGER,           -- NULL: until further notice
  parts_per_million INTEGER NOT NULL,
  PRIMARY KEY (node, begin, organization)
) WITHOUT ROWID;

CREATE TABLE capacity (
  node       TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  ordinal    INTEGER NOT NULL,
  processors INTEGER NOT NULL,
  whole      INTEGER NOT NULL DEFAULT 0,
  cpus       INTEGER NOT NULL DEFAULT 0,
  memory     INTEGER NOT NULL DEFAULT 0,   -- MiB
  gres       TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (node, at, ordinal)
) WITHOUT ROWID;

-- What shapleyd saw of each day as of `at`, from the events up to `sequence`: reproducible for ever.

CREATE TABLE books_by_day (
  day          INTEGER NOT NULL,
  organization TEXT    NOT NULL,
  at           INTEGER NOT NULL,
  sequence     INTEGER NOT NULL,
  period_begin INTEGER NOT NULL,
  psi          TEXT    NOT NULL,  -- micro-processor seconds squared
  got          TEXT    NOT NULL,  -- micro-processor seconds
  owned        INTEGER NOT NULL,
  used         INTEGER NOT NULL,
  waiting      INTEGER NOT NULL,
  lent         INTEGER NOT NULL,
  borrowed     INTEGER NOT NULL,
  PRIMARY KEY (day, organization)
) WITHOUT ROWID;

CREATE TABLE contributions_by_day (
  day          INTEGER NOT NULL,
  organization TEXT    NOT NULL,
  estimator    TEXT    NOT NULL,
  phi          TEXT    NOT NULL,  -- micro-processor seconds squared
  balance      TEXT    NOT NULL,  -- phi - psi
  given        TEXT    NOT NULL,  -- micro-processor seconds
  PRIMARY KEY (day, organization, estimator)
) WITHOUT ROWID;

-- What the daemon is asked for while it serves: jobs that run or could start, newest jobs, whole arrays.

CREATE INDEX open_segments ON segment_events(job) WHERE closed IS NULL AND retracted IS NULL;

CREATE INDEX jobs_by_submit ON event_jobs(submit);

CREATE INDEX jobs_by_array ON event_jobs(array_job) WHERE array_job IS NOT NULL;

CREATE INDEX jobs_by_het_job ON event_jobs(het_job) WHERE het_job IS NOT NULL;

-- ---- Views for auditors. They compute in doubles: good for reading, while psi and phi themselves are exact. -------------

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
SELECT j.job AS job,
       j.submit AS submit,
       COALESCE((SELECT c.organization FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.organization)) AS organization,
       j.array_job AS array_job,
       COALESCE((SELECT c.array_task FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                j.array_task) AS array_task,
       j.het_job AS het_job,
       j.user_id AS user_id,
       j.group_id AS group_id,
       COALESCE((SELECT c.account FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.account)) AS account,
       COALESCE((SELECT c.partition FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.partition)) AS partition,
       COALESCE((SELECT c.qos FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.qos)) AS qos,
       COALESCE((SELECT c.name FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                CASE typeof(j.name) WHEN 'integer' THEN (SELECT w.text FROM words w WHERE w.word = j.name) ELSE j.name END) AS name,
       COALESCE((SELECT c.wckey FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.wckey)) AS wckey
FROM event_jobs j;

-- The newest recorded row of every organization; standing_* as people read it (docs/concepts.md).

CREATE VIEW balances AS
SELECT b.organization                                                     AS organization,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours,
       ROUND(CAST(d.given AS REAL) / 1e6 / 3600, 3)                       AS given_direct_core_hours,
       ROUND(CAST(r.given AS REAL) / 1e6 / 3600, 3)                       AS given_rate_core_hours,
       ROUND(CAST(d.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_direct_core_hours,
       ROUND(CAST(r.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_rate_core_hours,
       b.psi                                                              AS psi,
       d.phi                                                              AS phi_direct,
       r.phi                                                              AS phi_rate
FROM books_by_day b
LEFT JOIN contributions_by_day d ON d.day = b.day AND d.organization = b.organization AND d.estimator = 'direct_contr'
LEFT JOIN contributions_by_day r ON r.day = b.day AND r.organization = b.organization AND r.estimator = 'shapley_rate'
WHERE b.day = (SELECT MAX(day) FROM books_by_day)
ORDER BY b.organization;

CREATE VIEW balances_by_estimator AS
SELECT c.estimator                                                        AS estimator,
       b.organization                                                     AS organization,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours,
       ROUND(CAST(c.given AS REAL) / 1e6 / 3600, 3)                       AS given_core_hours,
       ROUND(CAST(c.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_core_hours,
       b.psi                                                              AS psi,
       c.phi                                                              AS phi
FROM books_by_day b
JOIN contributions_by_day c ON c.day = b.day AND c.organization = b.organization
WHERE b.day = (SELECT MAX(day) FROM books_by_day)
ORDER BY c.estimator, b.organization;

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

CREATE VIEW observation_gaps AS
SELECT t.seq                                                            AS seq,
       datetime(json_extract(t.payload, '$.begin'), 'unixepoch')        AS begin_utc,
       datetime(json_extract(t.payload, '$.end'), 'unixepoch')          AS end_utc,
       json_extract(t.payload, '$.end') - json_extract(t.payload, '$.begin') AS seconds,
       json_extract(t.payload, '$.cause')                               AS cause
FROM event_texts t
WHERE t.key >= 'observation_gap/' AND t.key < 'observation_gap0'
ORDER BY t.seq;

CREATE VIEW work_by_month AS
WITH RECURSIVE pieces(organization, owner, processors, begin, upto, end) AS (
  SELECT organization, owner, processors, begin,
         MIN(end, CAST(strftime('%s', begin, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM run_shares
  UNION ALL
  SELECT organization, owner, processors, upto,
         MIN(end, CAST(strftime('%s', upto, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM pieces WHERE upto < end
)
SELECT strftime('%Y-%m', begin, 'unixepoch')                AS month,
       organization                                         AS organization,
       owner                                                AS owner,
       SUM(processors * (upto - begin))                     AS processor_seconds,
       ROUND(SUM(processors * (upto - begin)) / 3600.0, 3)  AS core_hours
FROM pieces
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;

CREATE VIEW amounts_by_month AS
WITH sides(month, organization, own, borrowed, lent) AS (
  SELECT month, organization,
         CASE WHEN organization = owner THEN processor_seconds ELSE 0.0 END,
         CASE WHEN organization = owner THEN 0.0 ELSE processor_seconds END, 0.0
  FROM work_by_month
  UNION ALL
  SELECT month, owner, 0.0, 0.0, processor_seconds FROM work_by_month WHERE organization <> owner
)
SELECT month                                         AS month,
       organization                                  AS organization,
       ROUND(SUM(own + borrowed) / 3600.0, 3)        AS got_core_hours_of_month,
       ROUND(SUM(own + lent) / 3600.0, 3)            AS given_core_hours_of_month_direct_contr,
       ROUND(SUM(lent - borrowed) / 3600.0, 3)       AS difference_core_hours_of_month_direct_contr,
       ROUND(SUM(own) / 3600.0, 3)                   AS own_core_hours_of_month,
       ROUND(SUM(lent) / 3600.0, 3)                  AS lent_core_hours_of_month,
       ROUND(SUM(borrowed) / 3600.0, 3)              AS borrowed_core_hours_of_month
FROM sides
GROUP BY month, organization
ORDER BY month, organization;

-- Between each two organizations what one lent the other in a month, less what it got back in that month.

CREATE VIEW who_owes_whom_by_month AS
SELECT w.month                                                               AS month,
       w.organization                                                        AS debtor,
       w.owner                                                               AS creditor,
       ROUND(w.processor_seconds / 3600.0, 3)                                AS used_core_hours_of_month,
       ROUND(COALESCE(r.processor_seconds, 0.0) / 3600.0, 3)                 AS returned_core_hours_of_month,
       ROUND((w.processor_seconds - COALESCE(r.processor_seconds, 0.0)) / 3600.0, 3) AS owed_core_hours_of_month
FROM work_by_month w
LEFT JOIN work_by_month r ON r.month = w.month AND r.organization = w.owner AND r.owner = w.organization
WHERE w.organization <> w.owner AND w.processor_seconds > COALESCE(r.processor_seconds, 0.0)
ORDER BY w.month, owed_core_hours_of_month DESC, debtor, creditor;

-- The books at the last recorded instant of each month, by every estimator: sums of the period so far, and the standing, which
-- is their difference on average over it (what `shapleyctl status` says).

CREATE VIEW standings_by_month AS
SELECT strftime('%Y-%m', b.day, 'unixepoch')                              AS month,
       b.organization                                                     AS organization,
       c.estimator                                                        AS estimator,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       datetime(b.period_begin, 'unixepoch')                              AS period_begin_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours_of_period_so_far,
       ROUND(CAST(c.given AS REAL) / 1e6 / 3600, 3)                       AS given_core_hours_of_period_so_far,
       ROUND(CAST(c.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3)
                                                                          AS standing_core_hours_on_average_of_period
FROM books_by_day b
JOIN contributions_by_day c ON c.day = b.day AND c.organization = b.organization
WHERE b.day IN (SELECT MAX(day) FROM books_by_day GROUP BY strftime('%Y-%m', day, 'unixepoch'))
ORDER BY 1, 3, 2;

CREATE VIEW adjustments AS
SELECT json_extract(t.payload, '$.number')                    AS number,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch') AS at_utc,
       json_extract(t.payload, '$.kind')                      AS kind,
       json_extract(t.payload, '$.what')                      AS what,
       json_extract(t.payload, '$.into')                      AS into_organization,
       json_extract(t.payload, '$.runs')                      AS runs,
       json_extract(t.payload, '$.author')                    AS author,
       json_extract(t.payload, '$.reason')                    AS reason,
       NULLIF(json_extract(t.payload, '$.reverses'), 0)       AS reverses,
       t.seq                                                  AS seq,
       t.seq + 1                                              AS first_fact,
       t.seq + json_extract(t.payload, '$.facts')             AS last_fact
FROM event_texts t
WHERE t.key >= 'adjustment_made/' AND t.key < 'adjustment_made0'
ORDER BY t.seq;

CREATE VIEW state_losses AS
SELECT t.seq                                                    AS seq,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch')   AS at_utc,
       datetime(json_extract(t.payload, '$.seen'), 'unixepoch') AS seen_utc,
       json_extract(t.payload, '$.closed')                      AS closed,
       json_extract(t.payload, '$.closed_seconds')              AS closed_processor_seconds,
       json_extract(t.payload, '$.retracted')                   AS retracted,
       json_extract(t.payload, '$.retracted_seconds')           AS retracted_processor_seconds
FROM event_texts t
WHERE t.key >= 'state_lost/' AND t.key < 'state_lost0'
ORDER BY t.seq;

CREATE VIEW clusters AS
SELECT t.seq                                                  AS seq,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch') AS at_utc,
       json_extract(t.payload, '$.cluster')                   AS cluster,
       json_extract(t.payload, '$.author')                    AS author,
       json_extract(t.payload, '$.reason')                    AS reason
FROM event_texts t
WHERE t.key >= 'cluster_named/' AND t.key < 'cluster_named0'
ORDER BY t.seq;
