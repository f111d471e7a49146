#!/usr/bin/env bats
# The plugins in a real slurmctld under valgrind: they read and write slurmctld's own records, of which arrays and lists change their length behind
# them. Slurm's own faults are not ours to judge; an error counts when one of our functions is in its stack.

load lib/e2e

# under_valgrind: a cluster with two partitions under the backfill scheduler, which alone starts heterogeneous jobs. A leak is Slurm's habit.
under_valgrind() {
  command -v valgrind >/dev/null || { say "there is no valgrind; install the packages of packaging/debian-packages.txt"; return 1; }
  SLURM_RELEASE=$(slurmctld -V | sed 's/.* //')
  if slurm_is_at_least 24.11; then several_qos=yes CLUSTER_DATABASE=yes; fi
  CLUSTER_SCHEDULER=sched/backfill
  CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL
ReconfigFlags=KeepPartState
PartitionName=other Nodes=ALL MaxTime=INFINITE DefaultTime=60 State=UP
PartitionName=third Nodes=ALL MaxTime=INFINITE DefaultTime=60 State=UP"
  cluster_prepare
  CLUSTER_CTLD_UNDER=(valgrind --quiet --leak-check=no --num-callers=30 --child-silent-after-fork=yes "--log-file=$CLUSTER_DIR/log/valgrind")
  three_organizations
  cluster_start
  wait_until 60 plugin_connected
}

several_qos=no
database_accounts() {
  cat <<'ACCOUNTS'
add cluster shapleytest
add qos high,highest
add account astro,bio,chem
add user daemon account=astro,bio,chem
modify user daemon set qos=normal,high,highest
ACCOUNTS
}

# waiting_jobs: several partitions, arrays, heterogeneous jobs, all of which wait; then their lists change their length.
waiting_jobs() {
  local job
  close_queue
  scontrol update PartitionName=other State=DOWN
  scontrol update PartitionName=third State=DOWN
  for job in 1 2; do
    submit astro -p main,other -n2 "sleep 1"
    submit bio -p other,main,third --array=1-4%2 -n1 "sleep 1"
  done >"$CLUSTER_DIR/jobs"
  sbatch --parsable --uid="$JOB_UID" --gid="$JOB_GID" --chdir=/ --output=/dev/null --account=astro -n2 : --account=chem -n3 -N2 --wrap="sleep 1"
  wait_until 60 ranked_is_known
  while read -r job; do scontrol update JobId="$job" Partition=main,other,third; done <"$CLUSTER_DIR/jobs"
  # A reconfigure makes the lists again, and here longer or shorter ones. No partition opens by it (KeepPartState): all jobs still wait.
  reconfigure
  if queue_is_open; then say "the reconfigure opened the queue"; return 1; fi
  while read -r job; do scontrol update JobId="$job" Partition=third,main; done <"$CLUSTER_DIR/jobs"
  [ "$several_qos" = no ] || jobs_of_several_qos
}
ranked_is_known() { [ -n "$(ranked)" ]; }

# From 24.11 on a job may name several QOS; each partition has then a priority with each of them.
jobs_of_several_qos() {
  local job
  job=$(submit chem -p main,other --qos=normal,high -n1 "sleep 1")
  wait_until 60 ranked_is_known
  scontrol update JobId="$job" QOS=normal,high,highest
  submit astro -p third,main --qos=high,normal --array=1-3 -n1 "sleep 1"
}

let_them_run() {
  scontrol update PartitionName=other State=UP
  scontrol update PartitionName=third State=UP
  open_queue
  wait_drained 120
  remember_run_times
  expect_books_correct 10
  ctld_stop
}

# our_errors: valgrind's reports that have a function of ours in their stack; each ends with an empty line ("==PID== ").
our_errors() { awk 'BEGIN { RS = "==[0-9]+== \n" } /shapley/' "$CLUSTER_DIR/log/valgrind"; }
no_error_of_ours() {
  [ -e "$CLUSTER_DIR/log/valgrind" ]
  our_errors >&2
  [ -z "$(our_errors)" ]
}

@test "priority/shapley under valgrind: several partitions and QOS, arrays, heterogeneous jobs" {
  under_valgrind
  waiting_jobs
  let_them_run
  no_error_of_ours
}

@test "site_factor/shapley under valgrind: several partitions and QOS, arrays, heterogeneous jobs" {
  CLUSTER_PRIORITY=site_factor/shapley
  under_valgrind
  waiting_jobs
  let_them_run
  no_error_of_ours
}
