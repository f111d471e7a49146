# The books against Slurm's own records, computed here a second time: plain sqlite3 and awk, none of our own code. To be
# sourced after jobs.bash. `shapleyctl audit` is asked as well, but never instead.

# three_organizations: the usual configuration. astro owns n1 and n2, bio n3, chem n4 (and each its account).
three_organizations() {
  cluster_config "organizations:" \
    "  - name: astro" "    accounts: [astro]" "    nodes: [\"n[1-2]\"]" \
    "  - name: bio" "    accounts: [bio]" "    nodes: [n3]" \
    "  - name: chem" "    accounts: [chem]" "    nodes: [n4]" "$@"
}

# ledger_sql SQL: one row a line, columns separated by blanks.
# It waits while shapleyd, at its start or end, has the file to itself.
ledger_sql() { sqlite3 -readonly -separator ' ' -cmd ".timeout 20000" "file:$CLUSTER_LEDGER?mode=ro" "$1"; }

# booked JOB...: the present run of each is in the ledger. Who ends a run and begins another must wait for that: of a run that begins and is
# requeued between two scans nothing is left in slurmctld's records but the count of requeues.
booked() {
  local job
  for job in "$@"; do
    [ "$(ledger_sql "SELECT COUNT(*) > 0 FROM segments WHERE kind = 'run' AND job = $job AND end IS NULL")" = 1 ] || return 1
  done
}

# ---- what Slurm says -------------------------------------------------------------------------------------------------

# "ACCOUNT=ORGANIZATION ..." where an account's name is not its organization's.
BOOKS_ORGANIZATIONS=""

# For awk: the members "NAME=VALUE" of a line of jobcomp/filetxt, or of scontrol -o show jobs, as field[NAME].
_awk_fields='function read_fields(  i, at) {
  delete field
  for (i = 1; i <= NF; ++i) { at = index($i, "="); field[substr($i, 1, at - 1)] = substr($i, at + 1) }
}'

# recorded_runs [all]: "JOB START END PROCESSORS ORGANIZATION NODES" of every run in jobcomp/filetxt that lasted a second or more; `all`: of
# those, too, that ended in the second in which they began. Jobs cancelled before they ran have no node. A resized run is several records, each with its own processors; jobcomp prints the end of
# the part before a resize as its start too, so its start is given as "-".
recorded_runs() {
  awk -v organizations="$BOOKS_ORGANIZATIONS" -v all="${1:-}" "$_awk_fields"'
    BEGIN { n = split(organizations, pair); for (i = 1; i <= n; ++i) { split(pair[i], side, "="); organization[side[1]] = side[2] } }
    {
      read_fields()
      if (field["Account"] in organization) field["Account"] = organization[field["Account"]]
      if (field["JobState"] == "RESIZING") field["StartTime"] = "-"
      if (field["NodeList"] != "(null)" && field["StartTime"] != "Unknown" && (all || field["StartTime"] != field["EndTime"]))
        print field["JobId"], field["StartTime"], field["EndTime"], field["ProcCnt"], field["Account"], field["NodeList"]
    }' "$CLUSTER_JOBCOMP"
}

# remember_run_times: "JOB SECONDS" for every finished job that slurmctld still knows: its run time without suspensions, which
# jobcomp/filetxt does not have. To be called before slurmctld stops.
remember_run_times() {
  scontrol -o show jobs | awk "$_awk_fields"'
    {
      read_fields()
      if (field["SuspendTime"] == "None" || field["NodeList"] == "(null)") next
      n = split(field["RunTime"], part, /[-:]/)
      print field["JobId"], (n > 3 ? part[1] * 86400 : 0) + part[n - 2] * 3600 + part[n - 1] * 60 + part[n]
    }' >"$CLUSTER_DIR/suspended-run-times"
}

# ---- the comparison --------------------------------------------------------------------------------------------------

# compare_books: prints every difference between the ledger and Slurm's records; silent when they agree to the second and
# processor. Each run must be there with the same start, end, processors, nodes and organization; its segments must cover it
# without overlap, apart from suspensions; nothing may be in the ledger that Slurm does not record.
compare_books() {
  local expanded=$CLUSTER_DIR/recorded-runs
  [ -e "$CLUSTER_DIR/suspended-run-times" ] || : >"$CLUSTER_DIR/suspended-run-times"
  recorded_runs | _expand_nodes >"$expanded"
  sqlite3 -separator ' ' :memory: <<SQL
.timeout 20000
ATTACH 'file:$CLUSTER_LEDGER?mode=ro' AS ledger;
CREATE TABLE lines (job INT, start TEXT, end TEXT, processors INT, account TEXT, nodes TEXT);
CREATE TABLE suspended (job INT, seconds INT);
.import $expanded lines
.import $CLUSTER_DIR/suspended-run-times suspended
CREATE TABLE slurm AS
  SELECT job, CAST(strftime('%s', start) AS INT) AS start, CAST(strftime('%s', end) AS INT) AS end, processors, account, nodes FROM lines;
CREATE TABLE parts AS
  SELECT s.job, s.anchor, s.ordinal, s.organization, s.begin, s.end, s.processors,
         (SELECT group_concat(node, ',') FROM (SELECT node FROM ledger.segment_nodes n WHERE n.kind = s.kind AND n.job = s.job
            AND n.anchor = s.anchor AND n.ordinal = s.ordinal ORDER BY node)) AS nodes,
         (SELECT SUM(processors) FROM ledger.segment_nodes n WHERE n.kind = s.kind AND n.job = s.job
            AND n.anchor = s.anchor AND n.ordinal = s.ordinal) AS on_nodes
  FROM ledger.segments s WHERE s.kind = 'run' AND s.retracted IS NULL;
CREATE TABLE books AS
  -- A run suspended in the very second it began has no segment before it was resumed.
  SELECT job, anchor, CASE WHEN MIN(ordinal) = 0 AND job IN (SELECT job FROM suspended) THEN anchor ELSE MIN(begin) END AS start, MAX(end) AS end, processors / 1000000 AS processors, organization AS account, nodes,
         SUM(end - begin) AS seconds, COUNT(*) - COUNT(end) AS unfinished
  FROM parts GROUP BY job, anchor, processors, nodes HAVING MAX(end) IS NULL OR MAX(end) > MIN(begin);
UPDATE slurm SET start = (SELECT b.start FROM books b WHERE (b.job, b.end, b.processors, b.account, b.nodes) =
  (slurm.job, slurm.end, slurm.processors, slurm.account, slurm.nodes)) WHERE start IS NULL;
-- A run resumed in the very second it ended may have no segment there; its run time is compared below all the same.
UPDATE books SET end = (SELECT s.end FROM slurm s WHERE s.job = books.job AND s.start = books.start AND s.end > books.end)
  WHERE job IN (SELECT job FROM suspended)
    AND EXISTS (SELECT 1 FROM slurm s WHERE s.job = books.job AND s.start = books.start AND s.end > books.end);
SELECT 'Slurm only: job', job, datetime(start, 'unixepoch'), datetime(end, 'unixepoch'), processors, account, nodes FROM slurm
  WHERE (job, start, end, processors, account, nodes) NOT IN (SELECT job, start, end, processors, account, nodes FROM books);
SELECT 'ledger only: job', job, datetime(start, 'unixepoch'), datetime(end, 'unixepoch'), processors, account, nodes FROM books
  WHERE (job, start, end, processors, account, nodes) NOT IN (SELECT job, start, end, processors, account, nodes FROM slurm);
SELECT 'still open: job', job FROM books WHERE unfinished > 0;
SELECT 'wrong run time: job', b.job, 'ledger', b.seconds, 'Slurm', COALESCE(s.seconds, b.end - b.start)
  FROM books b LEFT JOIN suspended s ON s.job = b.job WHERE b.seconds IS NOT COALESCE(s.seconds, b.end - b.start);
SELECT 'overlap: job', a.job, a.begin FROM parts a JOIN parts b
  ON a.job = b.job AND (a.anchor, a.ordinal) < (b.anchor, b.ordinal) AND b.begin < a.end AND a.begin < b.end;
SELECT 'processors do not add up: job', job, processors, on_nodes FROM parts WHERE processors IS NOT on_nodes;
SQL
}

# n[1,3-4] -> n1,n3,n4 in the last column, sorted as the ledger's query sorts.
_expand_nodes() {
  local line list
  while read -r line; do
    list=${line##* }
    [[ $list == *[\[,]* ]] && list=$(scontrol show hostnames "$list" | sort | paste -sd,)
    printf '%s %s\n' "${line% *}" "$list"
  done
}

# Slurm records an end before the plugin sees it, and what one look saw may come to the ledger in several pieces: the books are complete
# when they agree, and that is waited for. What is wrong stays wrong and fails at the deadline.
books_agree() {
  compare_books >"$CLUSTER_DIR/differences" && [ ! -s "$CLUSTER_DIR/differences" ] &&
    nothing_open
}
# audit_agrees [RECORDS]: so says shapleyctl, of jobcomp's records unless others are given.
audit_agrees() { shapleyctl audit "$CLUSTER_LEDGER" --against "${1:-$CLUSTER_JOBCOMP}" >"$CLUSTER_DIR/audit.txt" 2>&1; }

# nothing_open [JOB...]: no run of the ledger goes on, and each of these jobs has one. squeue may know of an end before the ledger knows of the
# start, so a caller who needs the runs of certain jobs names them.
nothing_open() {
  local job
  for job in "$@"; do
    [ "$(ledger_sql "SELECT COUNT(*) > 0 FROM segments WHERE kind = 'run' AND job = $job")" = 1 ] || return 1
  done
  [ "$(ledger_sql "SELECT COUNT(*) FROM segments WHERE end IS NULL AND retracted IS NULL")" -eq 0 ]
}

# all_looked_at: since the first call the plugin has looked at slurmctld's records, and shapleyd has booked what it saw: a job that was submitted then, and held, is
# known there, and observations are booked in order. For what must not have changed. The job is cancelled again.
all_looked_at() {
  : "${_marker:=$(submit astro --hold --job-name=marker true)}"
  shapleyctl explain "$_marker" --json | jq -e '.job.state == "blocked"' && scancel "$_marker" && unset _marker
}

# waiting_is ORGANIZATION PROCESSORS: so many its startable jobs ask for, by the books.
waiting_is() { [ "$(shapleyctl status --json | jq --arg name "$1" '.organizations[] | select(.name == $name) | .waiting == '"$2")" = true ]; }

# A run of a second by its command may be one of no second by Slurm's times, so those count, too; but something must be left to compare.
enough_recorded() { test "$(recorded_runs all | wc -l)" -ge "$1" && test -n "$(recorded_runs)"; }

# complete_jobcomp: while slurmctld terminates, it unloads jobcomp before it stops listening; what ends in between it completes and saves, but
# records nowhere, as its log says. Its own record of such a job is written beside the others.
complete_jobcomp() {
  local job
  for job in $(_ended_without_jobcomp); do
    grep -qF "JobId=$job " "$CLUSTER_JOBCOMP" || _jobcomp_record "$job" >>"$CLUSTER_JOBCOMP" || return 1
  done
}
# _jobcomp_record JOB: slurmctld's own record, as jobcomp/filetxt would have written it.
_jobcomp_record() {
  scontrol -o show job "$1" | awk "$_awk_fields"'
    {
      read_fields()
      printf "JobId=%s UserId=%s GroupId=%s Name=%s JobState=%s Partition=%s TimeLimit=60 StartTime=%s EndTime=%s NodeList=%s NodeCnt=%s ProcCnt=%s " \
             "WorkDir=%s ReservationName= Tres=%s Account=%s QOS= WcKey= Cluster=unknown SubmitTime=%s EligibleTime=%s DerivedExitCode=0:0 ExitCode=%s \n",
             field["JobId"], field["UserId"], field["GroupId"], field["JobName"], field["JobState"], field["Partition"], field["StartTime"],
             field["EndTime"], field["NodeList"], field["NumNodes"], field["NumCPUs"], field["WorkDir"], field["TRES"], field["Account"],
             field["SubmitTime"], field["EligibleTime"], field["ExitCode"]
    }'
}
# The numbers of the jobs, by the log of each slurmctld: of 43_2(45) the one in parentheses.
_ended_without_jobcomp() {
  local log
  for log in "$CLUSTER_DIR"/log/slurmctld.log "$CLUSTER_DIR"/host[12]/slurmctld.log; do
    [ ! -e "$log" ] || awk '/slurm_jobcomp plugin context not initialized/ { lost = 1; next }
      lost && /_job_complete: JobId=[0-9_()]+ done/ { sub(/.*JobId=/, ""); sub(/ done.*/, ""); sub(/.*[(]/, ""); sub(/[)]/, ""); print; lost = 0 }' "$log"
  done
}

# expect_books_correct [MIN_RUNS]: both witnesses, ours and audit's; at least MIN_RUNS runs must have been recorded, so that
# an empty ledger beside an empty record file does not pass. Slurm writes a record some time after squeue shows the end.
expect_books_correct() {
  complete_jobcomp || return 1
  wait_until 20 enough_recorded "${1:-1}" || { say "only $(recorded_runs all | wc -l) runs were recorded"; return 1; }
  wait_until 20 books_agree || { cat "$CLUSTER_DIR/differences" >&2; return 1; }
  wait_until 5 audit_agrees || { cat "$CLUSTER_DIR/audit.txt" >&2; return 1; }
}

# compare_standings AT: psi and phi (direct_contr) of every organization at an instant as the sums of SR13 Eq. 3 over the
# ledger's segments, one term per node, beside `shapleyctl status --at`. Prints differences only. Owners as in three_organizations.
compare_standings() {
  local at=$1 offline=$CLUSTER_DIR/status-at.tsv
  shapleyctl status --json --ledger "$CLUSTER_LEDGER" --at "$(date -u -d "@$at" +%FT%T)" |
    jq -r '.organizations[] | select(.name | IN("astro", "bio", "chem")) | "\(.name) \(.psi) \(.phi_direct)"' >"$offline" || return 1
  [ "$(wc -l <"$offline")" -eq 3 ] || { say "status --at lists other organizations"; return 1; }
  sqlite3 -separator ' ' :memory: <<SQL
.timeout 20000
ATTACH 'file:$CLUSTER_LEDGER?mode=ro' AS ledger;
CREATE TABLE status (name TEXT, psi INT, phi INT);
.import $offline status
CREATE TABLE owner (node TEXT, name TEXT);
INSERT INTO owner VALUES ('n1', 'astro'), ('n2', 'astro'), ('n3', 'bio'), ('n4', 'chem');
CREATE TABLE term AS
  SELECT s.organization AS user, o.name AS owner, n.processors / 1000000 AS q, s.begin, MIN(COALESCE(s.end, $at), $at) - s.begin AS p
  FROM ledger.segments s JOIN ledger.segment_nodes n USING (kind, job, anchor, ordinal) JOIN owner o ON o.node = n.node
  WHERE s.kind = 'run' AND s.retracted IS NULL AND s.begin < $at;
CREATE TABLE naive AS
  SELECT name,
    (SELECT COALESCE(SUM(q * (p * ($at - begin) - p * (p - 1) / 2)), 0) FROM term WHERE user = name) AS psi,
    (SELECT COALESCE(SUM(q * (p * ($at - begin) - p * (p - 1) / 2)), 0) FROM term WHERE owner = name) AS phi
  FROM status;
SELECT name, 'psi', s.psi, 'summed', n.psi, 'phi', s.phi, 'summed', n.phi FROM status s JOIN naive n USING (name)
  WHERE s.psi <> n.psi OR s.phi <> n.phi;
SELECT 'nothing ran' WHERE (SELECT SUM(psi) FROM naive) = 0;
SQL
}

# ---- standings and ranks ---------------------------------------------------------------------------------------------

status_json() { shapleyctl status --json; }
plugin_connected() { status_json | jq -e '.plugin.connected'; }

# ranked: the organizations that have jobs, best rank first, on one line.
ranked() { status_json | jq -r '[.organizations[] | select(.rank and (.name | IN("astro", "bio", "chem"))) | .name] | join(" ")'; }
ranked_is() { test "$(ranked)" = "$1"; }

# priorities_follow ORDER: jobs are pending, and each one's priority in slurmctld is above those of all organizations later in ORDER.
priorities_follow() {
  squeue -h -t PENDING -o '%a %Q' | awk -v order="$1" '
    BEGIN { n = split(order, name); for (i in name) place[name[i]] = i }
    { i = place[$1]; if (!(i in low) || $2 < low[i]) low[i] = $2; if ($2 > high[i]) high[i] = $2 }
    END { if (!NR) exit 1; floor = -1; for (i = 1; i <= n; ++i) if (i in low) { if (floor >= 0 && high[i] >= floor) exit 1; floor = low[i] } }'
}
