-- See compare.bash. Run by it in an empty database, with the files of the current directory and the ledger beside them.
CREATE TABLE lines (job INT, start TEXT, end TEXT, processors INT, account TEXT, state TEXT, line INT, nodes TEXT);
CREATE TABLE active_text (job INT, start TEXT);
CREATE TABLE loss (saved INT, blind INT, until INT);
CREATE TABLE seconds_text (job INT, start TEXT, end TEXT, seconds INT);
CREATE TABLE change (since INT, until INT);
.import records lines
.import active active_text
.import lost loss
.import seconds seconds_text
.import changes change
ATTACH 'file:ledger/ledger.db?mode=ro' AS ledger;

-- `written`: when the line was, at the earliest. A job cancelled while it was suspended ends for Slurm when it was suspended.
CREATE TABLE recorded AS SELECT job, CAST(strftime('%s', start) AS INT) AS start, CAST(strftime('%s', end) AS INT) AS end, processors, account,
  nodes, state, line, MAX(CAST(strftime('%s', end) AS INT)) OVER (ORDER BY line) AS written FROM lines;
CREATE TABLE active AS SELECT job, CAST(strftime('%s', start) AS INT) AS start FROM active_text;
CREATE TABLE counted AS SELECT job, CAST(strftime('%s', start) AS INT) AS start, CAST(strftime('%s', end) AS INT) AS end, seconds FROM seconds_text;
-- What ended in the second in which it began, or was suspended from its first second to its last, held nothing.
CREATE TABLE slurm AS SELECT * FROM recorded WHERE start <> end;
DELETE FROM slurm WHERE (job, start, end, 0) IN (SELECT job, start, end, seconds FROM counted);

-- One row a run, which starts at its anchor even where it was suspended in its first second. What slurmctld holds for running, or completing, is not over, whatever the books say of it so far.
CREATE TABLE parts AS
  SELECT s.job, s.anchor, s.ordinal, s.organization, s.begin, s.end, s.processors, group_concat(n.node) AS nodes, SUM(n.processors) AS on_nodes
  FROM ledger.segments s JOIN (SELECT * FROM ledger.segment_nodes ORDER BY node) n USING (kind, job, anchor, ordinal)
  WHERE s.kind = 'run' AND s.retracted IS NULL GROUP BY s.job, s.anchor, s.ordinal;
CREATE TABLE books AS
  SELECT job, anchor, anchor AS start, MAX(end) AS end, processors / 1000000 AS processors, organization AS account, nodes,
         SUM(end - begin) AS seconds, COUNT(*) - COUNT(end) AS unfinished
  FROM parts GROUP BY job, anchor, processors, nodes HAVING COUNT(end) < COUNT(*) OR SUM(end - begin) > 0;
CREATE TABLE last_parts AS SELECT job, anchor, reason FROM
    (SELECT job, anchor, reason, ROW_NUMBER() OVER (PARTITION BY job, anchor ORDER BY begin DESC, ordinal DESC) AS back
      FROM ledger.segments WHERE kind = 'run' AND retracted IS NULL)
  WHERE back = 1;
CREATE INDEX books_by_job ON books (job, start);
CREATE INDEX slurm_by_job ON slurm (job, start);
-- But where both have its end, they agree: one that completes may be recorded already.
DELETE FROM books WHERE (job, anchor) IN (SELECT job, start FROM active)
  AND NOT (unfinished = 0 AND (job, start, end) IN (SELECT job, start, end FROM slurm));

-- The books have a record's run, or rightly nothing where it held nothing.
CREATE TABLE agreed AS SELECT * FROM recorded
  WHERE CASE WHEN line IN (SELECT line FROM slurm)
      THEN (job, start, end, processors, account, nodes) IN (SELECT job, start, end, processors, account, nodes FROM books)
      ELSE (job, start) NOT IN (SELECT job, start FROM books) END;
-- A run that was suspended when its job was requeued, of which Slurm has wiped the seconds: its record counts the suspension, the books do not.
CREATE TABLE wiped AS SELECT r.line, b.job, b.anchor FROM recorded r JOIN books b USING (job, start, processors, account, nodes)
  WHERE b.unfinished = 0 AND b.end < r.end AND r.state IN ('PENDING', 'NODE_FAIL')
    AND (r.job, r.start, r.end) NOT IN (SELECT job, start, end FROM counted)
    AND (b.job, b.anchor, 'suspended') IN (SELECT job, anchor, reason FROM last_parts);
INSERT INTO agreed SELECT * FROM recorded WHERE line IN (SELECT line FROM wiped);
CREATE TABLE slurm_only AS SELECT * FROM slurm WHERE line NOT IN (SELECT line FROM agreed);
-- A job that is requeued while it completes is recorded twice, with its end and as requeued.
UPDATE slurm_only SET state = 'PENDING' WHERE (job, start, end) IN (SELECT job, start, end FROM slurm WHERE state = 'PENDING');
CREATE TABLE excused AS
  SELECT DISTINCT 'twice' AS kind, o.line FROM slurm_only o JOIN agreed s ON s.job = o.job AND s.start = o.start AND s.end <> o.end AND s.nodes = o.nodes
    WHERE EXISTS (SELECT 1 FROM loss WHERE CASE WHEN s.line < o.line THEN s.written ELSE o.written END BETWEEN saved - 1 AND until);
-- Its second end is yet to come: slurmctld holds it for running.
INSERT INTO excused SELECT 'twice', line FROM slurm_only o
  WHERE line NOT IN (SELECT line FROM excused) AND (job, start) IN (SELECT job, start FROM active)
    AND EXISTS (SELECT 1 FROM loss WHERE o.end BETWEEN saved - 1 AND until);
INSERT INTO excused SELECT 'forgotten', line FROM slurm_only o
  WHERE line NOT IN (SELECT line FROM excused) AND EXISTS (SELECT 1 FROM loss WHERE o.start >= saved - 1 AND o.end BETWEEN blind AND until);
INSERT INTO excused SELECT 'requeued', line FROM slurm_only o
  WHERE line NOT IN (SELECT line FROM excused) AND o.state = 'PENDING' AND EXISTS (SELECT 1 FROM loss WHERE o.end BETWEEN blind AND until);
INSERT INTO excused SELECT 'done', line FROM slurm_only o
  WHERE line NOT IN (SELECT line FROM excused) AND o.state = 'PENDING'
    AND EXISTS (SELECT 1 FROM agreed s
      WHERE s.job = o.job AND s.start = o.start AND s.nodes = o.nodes AND s.line < o.line AND s.end < o.end AND s.state <> 'PENDING');
-- The same, where the plugin's record of the first end was lost: the ledger has the requeue's.
INSERT INTO excused SELECT 'done', line FROM slurm_only o
  WHERE line NOT IN (SELECT line FROM excused) AND o.state <> 'PENDING' AND EXISTS (SELECT 1 FROM loss WHERE o.end BETWEEN blind AND until)
    AND EXISTS (SELECT 1 FROM agreed s
      WHERE s.job = o.job AND s.start = o.start AND s.nodes = o.nodes AND s.line > o.line AND s.end > o.end AND s.state = 'PENDING');
INSERT INTO excused SELECT 'unseen', line FROM slurm_only o
  WHERE line NOT IN (SELECT line FROM excused) AND state = 'PENDING' AND end - start <= 1;

SELECT 'Slurm only: line', line, 'job', job, datetime(start, 'unixepoch'), datetime(end, 'unixepoch'), processors, account, nodes, state
  FROM slurm_only WHERE line NOT IN (SELECT line FROM excused);
CREATE TABLE ledger_only AS SELECT * FROM books
  WHERE unfinished = 0
    AND (job, start, end, processors, account, nodes) NOT IN (SELECT job, start, end, processors, account, nodes FROM slurm);
CREATE TABLE suspended AS SELECT job, anchor FROM ledger_only o
  WHERE EXISTS (SELECT 1 FROM loss WHERE o.start >= saved - 1 AND o.end BETWEEN saved - 1 AND until)
    AND (job, anchor, 'suspended') IN (SELECT job, anchor, reason FROM last_parts);
CREATE TABLE restarted AS SELECT job, anchor FROM ledger_only o
  WHERE EXISTS (SELECT 1 FROM loss WHERE o.start BETWEEN saved - 1 AND until AND o.end >= until)
    AND (job, anchor, 'requeued') IN (SELECT job, anchor, reason FROM last_parts);
CREATE TABLE unrecorded AS SELECT job, anchor FROM ledger_only o
  WHERE (job, start, end, seconds) IN (SELECT job, start, end, seconds FROM counted)
    AND EXISTS (SELECT 1 FROM change WHERE o.end BETWEEN since AND until);

SELECT 'ledger only: job', job, datetime(start, 'unixepoch'), datetime(end, 'unixepoch'), processors, account, nodes FROM ledger_only
  WHERE (job, anchor) NOT IN (SELECT job, anchor FROM suspended UNION SELECT job, anchor FROM restarted UNION SELECT job, anchor FROM unrecorded
    UNION SELECT job, anchor FROM wiped);
SELECT 'open in the ledger only: job', job, datetime(start, 'unixepoch') FROM books WHERE unfinished > 0;
SELECT 'wrong run time: job', b.job, datetime(b.start, 'unixepoch'), 'ledger', b.seconds, 'Slurm', COALESCE(c.seconds, b.end - b.start)
  FROM books b LEFT JOIN counted c ON c.job = b.job AND c.start = b.start AND c.end = b.end
  WHERE b.unfinished = 0 AND b.seconds IS NOT COALESCE(c.seconds, b.end - b.start)
    -- Slurm wipes the seconds of a run that it requeues: of one that was suspended, start and end are all there is to compare.
    AND NOT (c.seconds IS NULL AND EXISTS (SELECT 1 FROM ledger.segments s WHERE s.kind = 'run' AND s.job = b.job AND s.anchor = b.anchor
      AND s.reason = 'suspended' AND s.retracted IS NULL));
CREATE TABLE overlap AS SELECT a.job, a.anchor AS first, b.anchor AS second, a.begin FROM parts a JOIN parts b
  ON a.job = b.job AND (a.anchor, a.ordinal) < (b.anchor, b.ordinal) AND b.begin < a.end AND a.begin < b.end;
-- Two runs that Slurm's records have, too, the later one from a life of slurmctld that it went back from.
CREATE TABLE both AS SELECT * FROM overlap WHERE first < second
  AND (job, first) IN (SELECT job, start FROM agreed) AND (job, second) IN (SELECT job, start FROM agreed)
  AND EXISTS (SELECT 1 FROM loss WHERE second BETWEEN saved - 1 AND until);
SELECT 'overlap: job', job, datetime(begin, 'unixepoch') FROM overlap
  WHERE (job, first, second) NOT IN (SELECT job, first, second FROM both)
    AND (job, first) NOT IN (SELECT job, anchor FROM suspended) AND (job, second) NOT IN (SELECT job, anchor FROM suspended);
SELECT 'processors do not add up: job', job, processors, on_nodes FROM parts WHERE processors IS NOT on_nodes;
SELECT 'excused', kind, line, job FROM excused JOIN slurm USING (line);
SELECT 'excused', 'suspended', 0, job FROM suspended;
SELECT 'excused', 'restarted', 0, job FROM restarted;
SELECT 'excused', 'both', 0, job FROM both;
SELECT 'excused', 'unrecorded', 0, job FROM unrecorded;
SELECT 'excused', 'wiped', line, job FROM wiped;
SELECT 'compared', COUNT(*) FROM slurm WHERE line NOT IN (SELECT line FROM excused);
