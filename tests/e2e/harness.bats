#!/usr/bin/env bats
# The harness itself, on Slurm's own multifactor plugin: if this fails, the other end-to-end tests say nothing.

load lib/e2e

no_process_names() { ! pgrep -f -- "$1"; }

setup() { CLUSTER_PRIORITY=priority/multifactor CLUSTER_NODE_CPUS=(4 4); }

@test "jobs run, with their records, in a cluster of our own" {
  cluster_start
  job=$(submit astro -n3 "sleep 1")
  wait_drained 20
  wait_until 5 grep -q "^JobId=$job .*JobState=COMPLETED .*ProcCnt=3 .*Account=astro " "$CLUSTER_JOBCOMP"
}

@test "a closed queue starts nothing; opened, jobs start by priority" {
  cluster_start
  close_queue
  low=$(submit astro -N2 --exclusive true)
  high=$(submit bio -N2 --exclusive true)
  scontrol update jobid="$low" priority=10
  scontrol update jobid="$high" priority=20
  [ -z "$(start_order)" ]
  open_queue
  wait_drained 20
  [ "$(start_order | awk '{ printf "%s ", $2 }')" = "$high $low " ]
}

@test "a killed daemon is reaped at once and starts again" {
  cluster_start
  pid=$(daemon_pid slurmctld)
  ctld_kill9
  [ ! -e "/proc/$pid" ]
  [ "$(daemon_status slurmctld)" -eq 137 ]
  ctld_start
  wait_until 20 nodes_ready
}

@test "a requeued job runs again within seconds" {
  requeues_expected
  cluster_start
  job=$(submit astro "sleep 600")
  wait_until 10 job_is "$job" RUNNING
  scontrol requeue "$job"
  wait_until 20 requeued_times "$job" 1
  wait_until 20 job_is "$job" RUNNING
}

@test "stopping ends every process of the cluster, running jobs included" {
  cluster_start
  job=$(submit astro "sleep 600")
  wait_until 10 job_is "$job" RUNNING
  ctld_kill9  # so that no slurmctld cancels the job for us
  cluster_stop
  wait_until 10 no_process_names "$CLUSTER_DIR"  # killed, and reaped by the process that inherited them
  [ "$(processes_with_files_of "$CLUSTER_DIR")" -eq 0 ]
}

@test "a cluster whose shell was killed leaves nothing behind" {
  CLUSTER_DIR=$(mktemp -d "$BATS_TEST_TMPDIR/orphan.XXXXXX")
  lib=$BATS_TEST_DIRNAME/lib
  bash -c '
    source "$1/cluster.bash"; CLUSTER_PRIORITY=priority/multifactor CLUSTER_NODE_CPUS=(4)
    cluster_start "$2" && echo up >"$2/up"; kill -KILL $$' - "$lib" "$CLUSTER_DIR" || true
  [ -e "$CLUSTER_DIR/up" ]
  wait_until 10 no_process_names "$CLUSTER_DIR"
}

# endless_test COMMAND: a bats file whose only test is in the middle of a load and gives this command again and again.
endless_test() {
  cat <<TEST
load $BATS_TEST_DIRNAME/lib/e2e
$(printf '@%s' test) "endless" {
  CLUSTER_PRIORITY=priority/multifactor CLUSTER_NODE_CPUS=(4)
  cluster_start
  submit astro "sleep 3000"
  submit bio --hold "sleep 3000"
  echo "\$CLUSTER_DIR" >$BATS_TEST_TMPDIR/dir.new && mv $BATS_TEST_TMPDIR/dir.new $BATS_TEST_TMPDIR/dir
  while :; do $1; done
}
TEST
}
job_runs() { test -s "$BATS_TEST_TMPDIR/dir" && pgrep -f "$(cat "$BATS_TEST_TMPDIR/dir")/spool/.*slurm_script"; }
marked_processes() { grep -lzsxF "SHAPLEY_TEST_CLUSTER=$1" /proc/[0-9]*/environ | wc -l; }
# slurmstepd hides its environment; it has a log open.
processes_with_files_of() { find /proc/[0-9]*/fd -maxdepth 1 -lname "$1/*" 2>/dev/null | cut -d / -f 3 | sort -u | wc -l; }
nothing_left() { test "$(marked_processes "$1")" -eq 0 && test "$(processes_with_files_of "$1")" -eq 0 && no_process_names "$1" && \
  ! grep -rqsx "$1/run" "${TMPDIR:-/tmp}/shapley-test-ports"; }

# killed_in_a_load TEST_COMMAND COMMAND...: COMMAND PID ends bats, which runs in a process group of its own as `timeout` would have it.
killed_in_a_load() {
  local bats dir
  endless_test "$1" >"$BATS_TEST_TMPDIR/endless.bats"
  rm -f "$BATS_TEST_TMPDIR/dir"
  setsid env --default-signal=INT -i PATH="$PATH" HOME=/ SHAPLEY_BUILD="$SHAPLEY_BUILD" "$BATS_ROOT/bin/bats" "$BATS_TEST_TMPDIR/endless.bats" \
    </dev/null >"$BATS_TEST_TMPDIR/endless.out" 2>&1 3>&- &
  bats=$!
  wait_until 30 job_runs || { cat "$BATS_TEST_TMPDIR/endless.out"; return 1; }
  dir=$(cat "$BATS_TEST_TMPDIR/dir")
  [ "$(marked_processes "$dir")" -ge 4 ]  # munged, slurmctld, slurmd, a job: the counts can fail
  [ "$(processes_with_files_of "$dir")" -ge 4 ]  # munged, slurmctld, slurmd, slurmstepd
  "${@:2}" "$bats"
  # An interrupted test stops its cluster: more than the deadlines of cluster_stop in sum.
  wait_until 60 no_process "$bats" || { kill -KILL -- "-$bats"; return 1; }
  wait_until 5 nothing_left "$dir"
  rm -rf "$dir"
}
no_process() { [ ! -e "/proc/$1" ]; }
# As `timeout` does, and as Ctrl-C and ctest do: SIGKILL of every process that has it as ancestor.
terminate_group() { kill -TERM -- "-$1"; }
interrupt_group() { kill -INT -- "-$1"; }
kill_tree() {
  local child
  kill -STOP "$1"
  for child in $(pgrep -P "$1"); do kill_tree "$child"; done
  kill -KILL "$1"
}

@test "a test killed in the middle of a load leaves no process and no claim: by timeout, by Ctrl-C, by ctest's limit" {
  local submits='submit chem "sleep 1" >/dev/null'
  killed_in_a_load "$submits" terminate_group
  killed_in_a_load "$submits" interrupt_group
  killed_in_a_load : interrupt_group  # no command that the signal could end
  killed_in_a_load "$submits" kill_tree
}

@test "directories that killed tests leave are bounded in number" {
  local TMPDIR=$BATS_TEST_TMPDIR
  for i in {1..12}; do mkdir "$TMPDIR/shapley-cluster.left$(printf %02d "$i")"; done
  cluster_prepare
  [ "$(ls -d "$TMPDIR"/shapley-cluster.left* | wc -l)" -eq 8 ]
}

@test "two clusters run at once" {
  cluster_start
  other=$BATS_TEST_TMPDIR/other
  run bash -c '
    source "$1/cluster.bash"; source "$1/jobs.bash"; CLUSTER_PRIORITY=priority/multifactor CLUSTER_NODE_CPUS=(4)
    mkdir "$2" && cluster_start "$2" && submit astro true && wait_drained 20; status=$?; cluster_stop && exit $status' \
    - "$BATS_TEST_DIRNAME/lib" "$other"
  [ "$status" -eq 0 ]
  submit bio true
  wait_drained 20
  wait_until 5 grep -q "^JobId=1 " "$other/log/jobcomp.txt"
  wait_until 5 grep -q "^JobId=1 " "$CLUSTER_JOBCOMP"
  [ "$(wc -l <"$other/log/jobcomp.txt")" -eq 1 ]
  [ "$(wc -l <"$CLUSTER_JOBCOMP")" -eq 1 ]
}

@test "a cluster that cannot start says why and where the logs are" {
  CLUSTER_EXTRA_CONF="NoSuchOption=1"
  run cluster_start
  [ "$status" -ne 0 ]
  [[ $output == *"slurmctld does not answer"* ]]
  [[ $output == *"its logs: "* ]]
  CLUSTER_DIR=$(sed -n 's/.*its logs: \(.*\)\/log$/\1/p' <<<"$output")
}
