# Submitting jobs to the private cluster and reading what became of them. To be sourced after cluster.bash.

# Jobs run as an unprivileged user that every Debian has.
JOB_UID=65534
JOB_GID=65534

# submit ACCOUNT [SBATCH_OPTION...] COMMAND: prints the job id. COMMAND is a shell command line, one argument.
submit() {
  local account=$1 command=${*: -1}
  sbatch --parsable --uid="$JOB_UID" --gid="$JOB_GID" --account="$account" --chdir=/ --output=/dev/null \
    "${@:2:$#-2}" --wrap="$command"
}

# close_queue, open_queue: jobs submitted meanwhile all wait, so that one scheduling pass sees all of them.
close_queue() { scontrol update PartitionName=main State=DOWN; }
open_queue() { scontrol update PartitionName=main State=UP; }

queue_empty() { test -z "$(squeue -h -t all -o '%A %T' | grep -vE 'COMPLETED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL|DEADLINE|OUT_OF_MEMORY|PREEMPTED')"; }
job_state() { scontrol -o show job "$1" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p' | head -n 1; }
job_is() { test "$(job_state "$1")" = "$2"; }
job_field() { scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }

# wait_drained [SECONDS]: every job has ended.
wait_drained() { wait_until "${1:-60}" queue_empty; }

# start_order: "TIME JOB_ID" of every start, in slurmctld's own order (its log; several starts share a second elsewhere).
start_order() {
  sed -nE 's/^\[([^]]*)\] sched(\/backfill: _start_[a-z]+: Started|: Allocate) JobId=([0-9]+_[0-9]+\()?([0-9]+).*/\1 \4/p' \
    "$CLUSTER_DIR/log/slurmctld.log"
}
