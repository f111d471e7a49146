#!/usr/bin/env bats
# The ledger equals Slurm's own job records, to the second and the processor, for everything that jobs do.

load lib/e2e

@test "a mixed load: short and failing jobs, arrays, jobs across owners, cancels, requeues, suspensions" {
  requeues_expected
  start_with
  plain_load 18
  array_load
  wide_load
  cancelled_load
  requeued_load
  suspended_load
  wait_drained 90
  remember_run_times
  [ "$(wc -l <"$CLUSTER_DIR/suspended-run-times")" -ge 3 ]
  expect_books_correct 26
  shapleyd_stop
  expect_books_correct 26
  [ -z "$(compare_standings "$(date +%s)")" ]
}

@test "resized jobs, a failed node, and allocations without a batch script" {
  requeues_expected
  start_with
  srun --account=astro -n2 --chdir=/ sleep 1
  salloc --account=bio -n3 --chdir=/ sleep 1
  resized=$(submit chem -N3 --nodelist=n1,n2,n3 -n6 "$(until_told resized)")
  struck=$(submit astro -N3 --nodelist=n1,n2,n3 -n6 "$requeued_command")
  wait_until 20 booked "$resized" "$struck"
  wait_until 10 seconds_passed 1
  scontrol update jobid="$resized" numnodes=1
  scontrol update nodename=n2 state=down reason="test"
  wait_until 10 requeued_times "$struck" 1
  scontrol update nodename=n2 state=resume || true  # ReturnToService=2: the node may be back by itself already
  wait_until 10 seconds_passed 1
  tell resized
  wait_drained 30
  wait_until 5 grep -q "^JobId=$resized .*JobState=RESIZING" "$CLUSTER_JOBCOMP"
  wait_until 5 grep -q "^JobId=$struck .*JobState=NODE_FAIL" "$CLUSTER_JOBCOMP"
  expect_books_correct 6
}

# resized_at_once: a job that was resized in the second in which it began, by Slurm's own records; its number.
resized_at_once() {
  local job
  for _ in {1..20}; do
    job=$(submit astro -N2 -n4 "$(until_told resized)") && wait_until 60 running "$job" && scontrol update JobId="$job" NumNodes=1 || return 1
    wait_until 20 grep -q "^JobId=$job .*JobState=RESIZING" "$CLUSTER_JOBCOMP" || return 1
    [[ $(job_field "$job" StartTime) != "$(sed -n "s/^JobId=$job .*JobState=RESIZING.* EndTime=\([^ ]*\).*/\1/p" "$CLUSTER_JOBCOMP")" ]] || break
  done
  echo "$job"
}

@test "a run that is resized in the second in which it began is no finding of the audit" {
  start_with
  resized=$(resized_at_once)
  wait_until 30 booked "$resized"
  wait_until 10 seconds_passed 1
  tell resized
  wait_drained 60
  wait_until 30 nothing_open
  wait_until 10 audit_agrees || { cat "$CLUSTER_DIR/audit.txt"; grep "^JobId=$resized " "$CLUSTER_JOBCOMP"; false; }
}

@test "heterogeneous jobs, under the backfill scheduler" {
  CLUSTER_SCHEDULER=sched/backfill
  CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"
  start_with
  sbatch --parsable --uid="$JOB_UID" --gid="$JOB_GID" --chdir=/ --output=/dev/null --account=astro -n2 : \
    --account=bio -n3 -N2 --wrap="sleep 2"
  plain_load 12
  wait_drained 60
  wait_until 5 grep -q "HetJobOffset=1" "$CLUSTER_JOBCOMP"
  expect_books_correct 10
}

# jobs_say JOBS FIELDS LINES: these fields of these jobs are LINES, in the order of sort.
jobs_say() { [ "$(shapleyctl jobs -n -j "$1" -o "$2" | tr -s ' ' | sed 's/^ //' | sort)" = "$3" ]; }

@test "jobs shows the account that a waiting job was moved to, and the last task of an array as Slurm writes it" {
  CLUSTER_DATABASE=yes  # without accounts of its own Slurm takes no other one
  start_with
  close_queue
  moved=$(submit astro "$(until_told moved)")
  array=$(submit astro --array=3-5 "$(until_told array)")
  wait_until 20 jobs_say "$moved" organization,account "astro astro"
  wait_until 20 jobs_say "$array" job,organization "$array astro"
  scontrol update jobid="$moved" account=chem
  wait_until 20 jobs_say "$moved" organization,account "chem chem"
  open_queue
  wait_until 30 jobs_say "$array" job "${array}_3"$'\n'"${array}_4"$'\n'"${array}_5"
  jobs_say "${array}_[4-5],$moved" job,account "$moved chem"$'\n'"${array}_4 astro"$'\n'"${array}_5 astro" ||
    { shapleyctl jobs -j "${array}_[4-5],$moved"; false; }
  wait_until 10 seconds_passed 1
  tell moved
  tell array
  wait_drained 30
  expect_books_correct 4
}

@test "fractions of a node and guests: the sums still balance" {
  cluster_prepare
  cluster_config "organizations:" \
    "  - name: astro" "    accounts: [astro]" "    nodes: [{nodes: n1, share: 1/3}, n2]" \
    "  - name: bio" "    accounts: [bio]" "    nodes: [{nodes: n1, share: 2/3}]"
  cluster_start
  wait_until 15 plugin_connected
  plain_load 12  # chem is no organization here: a guest; n3 and n4 have no owner: commons
  wide_load
  wait_drained 60
  wait_until 20 audit_agrees || { cat "$CLUSTER_DIR/audit.txt" >&2; false; }
  status_json >"$CLUSTER_DIR/status.json"
  jq -e '.conservation.holds' "$CLUSTER_DIR/status.json"
  jq -e '[.organizations[].name] | contains(["guests", "commons"])' "$CLUSTER_DIR/status.json"
}
