#!/usr/bin/env bats
# Two real clusters of one consortium that are a Slurm federation: a job waits on both and starts on one.

load lib/e2e
load lib/consortium

teardown() { clusters_end; }

CLUSTER_DATABASE=yes
requeues_expected
# Commands show the jobs of all clusters, unless they are asked for those of one.
CLUSTER_EXTRA_CONF=FederationParameters=fed_display
CLUSTER_RANKING="rule: published
guarantee: 0
contribution: hindsight"
export SQUEUE_LOCAL=1 SCONTROL_LOCAL=1 SINFO_LOCAL=1 SACCT_LOCAL=1 SPRIO_LOCAL=1

# fed_submit: as submit; sbatch adds the name of the cluster.
fed_submit() { local job; job=$(submit "$@") && echo "${job%%;*}"; }
# ended_waiting JOB: no demand of it is in the books here, not even in retrospect.
ended_waiting() { [ "$(ledger_sql "SELECT count(*) FROM segments WHERE kind = 'wait' AND job = $1 AND retracted IS NULL AND (end IS NULL OR end > begin)")" -eq 0 ]; }
# Slurm keeps a record without a number for what it has taken away.
no_other_job() { [ "$(ledger_sql "SELECT count(*) FROM jobs WHERE job >= 4294967294")" -eq 0 ]; }
never_ran_here() { [ "$(ledger_sql "SELECT count(*) FROM segments WHERE kind = 'run' AND job = $1")" -eq 0 ]; }
run_is_over() { [ "$(ledger_sql "SELECT count(*) FROM segments WHERE kind = 'run' AND job = $1 AND end IS NULL AND retracted IS NULL")" -eq 0 ]; }
# Not with -j, which also shows a row that lacks a part.
start_is_recorded() { sacct -a -X -n -P -o JobIDRaw,Start | grep -q "^$1|2"; }
sacct_agrees() {
  sacct -a -D -P -o JobIDRaw,Cluster,Start,End,State,AllocCPUS,Suspended >"$CLUSTER_DIR/sacct.txt" && audit_agrees "$CLUSTER_DIR/sacct.txt"
}
explained() { shapleyctl explain "$1" --json | jq -e "$2" >/dev/null; }
# As a user asks, whose squeue and sprio show the jobs of all clusters.
of_all() { (unset SQUEUE_LOCAL SPRIO_LOCAL; "$@"); }
# fill CLUSTER ORGANIZATION PROCESSORS NAME: by a job that may run on that cluster only, until it is told NAME.
fill() {
  local job
  use_cluster "$1"
  job=$(fed_submit "$2" --clusters="$1" -n"$3" "$(until_told "$4")")
  wait_until 60 booked "$job"
}

@test "a job of a federation is demand on each cluster that it waits on, until it starts on one of them; it is booked there only" {
  local first second name
  clusters_prepare north south
  configure_consortium north south "$(tcp_of south)"
  configure_consortium south north "$(tcp_of north)"
  clusters_start north south
  federate uni
  fill north ada 8 north
  fill south ada 4 south
  fill south ada 4 rest

  # It waits on both, and both count what it asks for, once each.
  first=$(on north fed_submit bob -n4 "$(on north until_told first)")
  [ "$first" -gt $((1 << 26)) ]
  for name in north south; do
    on "$name" wait_until 60 waiting_is bob 4
    wait_until 60 explained "$first" '.waits_for == "startable" and .slurm.job.state == "PENDING" and .place.known and .place.of == 1'
    of_all explained "$first" '.place.known and .place.of == 1'
  done
  # It starts in the south. In the north, where it was submitted, its record stays, and it is no demand any more, not even in retrospect.
  on south tell south
  wait_until 60 booked "$first"
  wait_until 60 waiting_is bob 0
  on north wait_until 60 waiting_is bob 0
  wait_until 60 ended_waiting "$first"
  never_ran_here "$first"
  # Where it runs is said in the north.
  wait_until 60 explained "$first" '.elsewhere == {cluster: "south", state: "RUNNING"}'
  shapleyctl explain "$first" | grep -q "^It runs on the cluster south of its federation (RUNNING), whose books have it"
  # The next one starts in the north; in the south its record is taken away.
  second=$(on north fed_submit bob -n4 "$(on north until_told second)")
  for name in north south; do on "$name" wait_until 60 waiting_is bob 4; done
  on north tell north
  wait_until 60 booked "$second"
  wait_until 60 waiting_is bob 0
  on south wait_until 60 waiting_is bob 0
  wait_until 60 ended_waiting "$second"
  never_ran_here "$second"
  wait_until 60 explained "$second" '.elsewhere.cluster == "north"'
  no_other_job
  # The first one is requeued, waits again and runs a second time, now in the north.
  fill north ada 4 full
  on south close_queue
  # slurmctld sends all of a start every five seconds. What it has not sent when the job is submitted there again it sends without the number of the job.
  wait_until 60 start_is_recorded "$first"
  scontrol requeue "$first"
  on north wait_until 60 waiting_is bob 4
  tell full
  wait_until 60 booked "$first"
  on south wait_until 60 run_is_over "$first"
  [ "$(ledger_sql "SELECT count(*) FROM segments WHERE kind = 'run' AND job = $first AND retracted IS NULL")" -eq 1 ]

  on south tell rest
  on north tell first
  tell second
  for name in north south; do
    on "$name" wait_drained 120
    expect_books_correct 3
    no_other_job
    wait_until 20 sacct_agrees || { cat "$CLUSTER_DIR/audit.txt" "$CLUSTER_DIR/sacct.txt"; false; }
  done
  for name in north south; do audit_with_consortium "$name"; done
}
