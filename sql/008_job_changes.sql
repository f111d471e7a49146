-- Schema 8 of the ledger: what is known of a job may change (job_changed). docs/reference/ledger.md, "events".

-- A projection: what each job_changed says that may differ from the job_described of the same job and submit time.
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

-- The newest that is known of each job; array_job and het_job are NULL where it is neither. Each column looks for itself:
-- whoever asks for few pays for few, and within another query the view is no join.
DROP VIEW jobs;
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
