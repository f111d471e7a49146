-- Schema 1 of the ledger. docs/reference/ledger.md explains every table, column and view.
--
-- Times are whole seconds since the Unix epoch (UTC), processors millionths of a weighted processor. Values that outgrow
-- 64 bits are decimal text. Nothing here needs an SQLite newer than 3.24, so that auditors' machines can read it.

-- The truth. Everything after it, checkpoints included, can be dropped and made again from it.
CREATE TABLE events (
  seq      INTEGER PRIMARY KEY,   -- 1, 2, 3, ... without holes
  key      TEXT    NOT NULL UNIQUE,
  at       INTEGER NOT NULL,
  received INTEGER NOT NULL,
  kind     TEXT    NOT NULL,
  payload  TEXT    NOT NULL,      -- JSON on one line, members in alphabetical order
  hash     BLOB    NOT NULL       -- SHA-256 over the previous row's hash and this row
);

CREATE TRIGGER events_are_not_updated BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;

CREATE TABLE checkpoints (
  sequence INTEGER PRIMARY KEY,   -- the books hold every event up to this one
  at       INTEGER NOT NULL,
  text     TEXT    NOT NULL,
  sha      BLOB    NOT NULL       -- SHA-256 over the hash of event `sequence`, `at` and `text`
);

-- Projections: kept in the same transaction as the events, rebuilt from them on demand.

CREATE TABLE segments (
  kind         TEXT    NOT NULL,  -- run, wait
  job          INTEGER NOT NULL,
  anchor       INTEGER NOT NULL,
  ordinal      INTEGER NOT NULL,
  organization TEXT,
  begin        INTEGER,           -- NULL: only the end is known so far
  end          INTEGER,           -- NULL: still open
  processors   INTEGER,
  reason       TEXT,
  job_state    TEXT,
  retracted    INTEGER,           -- when Slurm turned out not to know this segment; it counts for nothing
  PRIMARY KEY (job, anchor, kind, ordinal)
) WITHOUT ROWID;

CREATE TABLE segment_nodes (
  kind       TEXT    NOT NULL,
  job        INTEGER NOT NULL,
  anchor     INTEGER NOT NULL,
  ordinal    INTEGER NOT NULL,
  node       TEXT    NOT NULL,
  processors INTEGER NOT NULL,
  PRIMARY KEY (job, anchor, kind, ordinal, node)
) WITHOUT ROWID;

CREATE TABLE jobs (
  job          INTEGER NOT NULL,
  submit       INTEGER NOT NULL,
  organization TEXT    NOT NULL,
  array_job    INTEGER,           -- NULL: not of an array
  array_task   INTEGER,
  het_job      INTEGER,           -- NULL: not heterogeneous
  user_id      INTEGER NOT NULL,
  group_id     INTEGER NOT NULL,
  account      TEXT    NOT NULL,
  partition    TEXT    NOT NULL,
  qos          TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  wckey        TEXT    NOT NULL,
  PRIMARY KEY (job, submit)
) WITHOUT ROWID;

-- What the daemon is asked for while it serves: jobs that run or could start, newest jobs, whole arrays.
CREATE INDEX open_segments ON segments(job) WHERE end IS NULL AND retracted IS NULL;
CREATE INDEX jobs_by_submit ON jobs(submit);
CREATE INDEX jobs_by_array ON jobs(array_job) WHERE array_job IS NOT NULL;
CREATE INDEX jobs_by_het_job ON jobs(het_job) WHERE het_job IS NOT NULL;

CREATE TABLE organizations (
  at       INTEGER NOT NULL,      -- this list is in force from here to the next one
  position INTEGER NOT NULL,      -- from 0; ties of ranks go to the lowest
  name     TEXT    NOT NULL,
  PRIMARY KEY (at, position)
) WITHOUT ROWID;

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
  PRIMARY KEY (node, at, ordinal)
) WITHOUT ROWID;

CREATE TABLE periods (
  at     INTEGER PRIMARY KEY,
  period TEXT NOT NULL
);

-- The books of each day as of `at`, from the events up to `sequence`: what shapleyd saw, and reproducible for ever.
CREATE TABLE standings_by_day (
  day            INTEGER NOT NULL,
  organization   TEXT    NOT NULL,
  at             INTEGER NOT NULL,
  sequence       INTEGER NOT NULL,
  period_begin   INTEGER NOT NULL,
  psi            TEXT    NOT NULL,  -- micro-processor seconds squared
  phi_direct     TEXT    NOT NULL,
  phi_rate       TEXT    NOT NULL,
  balance_direct TEXT    NOT NULL,  -- phi_direct - psi
  balance_rate   TEXT    NOT NULL,  -- phi_rate - psi
  got            TEXT    NOT NULL,  -- micro-processor seconds
  given_direct   TEXT    NOT NULL,
  given_rate     TEXT    NOT NULL,
  owned          INTEGER NOT NULL,
  used           INTEGER NOT NULL,
  waiting        INTEGER NOT NULL,
  lent           INTEGER NOT NULL,
  borrowed       INTEGER NOT NULL,
  PRIMARY KEY (day, organization)
) WITHOUT ROWID;

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

-- The newest recorded row of every organization; standing_* as people read it (docs/concepts.md).
CREATE VIEW balances AS
SELECT b.organization                                                     AS organization,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours,
       ROUND(CAST(b.given_direct AS REAL) / 1e6 / 3600, 3)                AS given_direct_core_hours,
       ROUND(CAST(b.given_rate AS REAL) / 1e6 / 3600, 3)                  AS given_rate_core_hours,
       ROUND(CAST(b.balance_direct AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_direct_core_hours,
       ROUND(CAST(b.balance_rate AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3)   AS standing_rate_core_hours,
       b.psi                                                              AS psi,
       b.phi_direct                                                       AS phi_direct,
       b.phi_rate                                                         AS phi_rate
FROM standings_by_day b
WHERE b.day = (SELECT MAX(day) FROM standings_by_day)
ORDER BY b.organization;

-- The configurations in the order they were loaded.
CREATE VIEW configurations AS
SELECT seq, datetime(at, 'unixepoch') AS at_utc, json_extract(payload, '$.text') AS text
FROM events
WHERE key >= 'configuration_loaded/' AND key < 'configuration_loaded0'
ORDER BY seq;
