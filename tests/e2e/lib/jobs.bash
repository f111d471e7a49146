# Submitting jobs to the private cluster and reading what became of them. To be sourced after cluster.bash.

# Jobs run as an unprivileged user that every Debian has. Not as nobody: from 25.11 on Slurm refuses that one in associations.
JOB_UID=$(id -u daemon)
JOB_GID=$(id -g daemon)

# submit ACCOUNT [SBATCH_OPTION...] COMMAND: prints the job id. COMMAND is a shell command line, one argument.
submit() {
  local account=$1 command=${*: -1}
  sbatch --parsable --uid="$JOB_UID" --gid="$JOB_GID" --account="$account" --chdir=/ --output=/dev/null \
    "${@:2:$#-2}" --wrap="$command"
}

# close_queue, open_queue: jobs submitted meanwhile all wait, so that one scheduling pass sees all of them.
close_queue() { scontrol update PartitionName=main State=DOWN; }
open_queue() { scontrol update PartitionName=main State=UP; }
queue_is_open() { scontrol -o show partition main | grep -q 'State=UP'; }

# reconfigure [COMMAND...]: has slurmctld read its configuration again (`scontrol reconfigure`, which returns when that is done) while it sends nothing to slurmd. A thread that
# sends something at that moment may read a TreeWidth of 0 in Slurm 22.05 and count without end (set_span in slurm_route.c): a job that is launched then
# runs without a process until BatchStartTimeout, and the thread stays. No job starts meanwhile, and none ends: who would report it is stopped.
# A queue that was closed stays closed where slurm.conf says ReconfigFlags=KeepPartState.
reconfigure() {
  local before failed=0 open=no
  ! queue_is_open || open=yes
  close_queue && wait_until 60 launched && wait_until 60 nodes_stopped_while_nothing_is_sent || return 1
  if [ $# -eq 0 ]; then
    scontrol reconfigure || failed=1
  else
    before=$(reconfigurations)
    { "$@" && wait_until 60 reconfigured_since "$before"; } || failed=1
  fi
  signal_nodes CONT
  [ "$failed" = 0 ] && { [ "$open" = no ] || open_queue; }
}
nodes_stopped_while_nothing_is_sent() {
  nothing_sent || return 1
  signal_nodes STOP
  nothing_sent && return
  signal_nodes CONT
  return 1
}
# signal_nodes SIGNAL: to every slurmd that there is and every slurmstepd.
signal_nodes() {
  local i pids=()
  for i in "${!CLUSTER_NODE_CPUS[@]}"; do pids+=($(daemon_pid "slurmd.n$((i + 1))")); done
  kill "-$1" "${pids[@]}"
  pids=($("$cluster_lib/guard" steps "$CLUSTER_DIR"))
  [ ${#pids[@]} -eq 0 ] || kill "-$1" "${pids[@]}" 2>/dev/null || true
}
# between_launches COMMAND...: COMMAND stops slurmctld while no job is on its way to slurmd. A slurmd that cannot confirm a launch, because
# slurmctld is gone, does not start the job, and slurmctld then holds it without end ("launch failed requeued held"). Afterwards: open_queue.
between_launches() { close_queue && wait_until 60 launched && wait_until 60 nothing_sent && "$@"; }
launched() {
  local job
  for job in $(squeue -h -t RUNNING -o %A); do [ -n "$(script_process "$job")" ] || return 1; done
}
# slurmctld has no message to slurmd under way, and none queued.
nothing_sent() { sdiag | awk '/^Agent (queue size|count|thread count):/ { ++lines; sum += $NF } END { exit !(lines == 3 && sum == 0) }'; }
script_process() { pgrep -f "^/bin/sh $CLUSTER_DIR/spool/n[0-9]+/job0*$1/slurm_script" | head -n 1; }
reconfigurations() { grep -c " SchedulerParameters=" "$CLUSTER_DIR/log/slurmctld.log" || true; }  # said last
reconfigured_since() { [ "$(reconfigurations)" -gt "$1" ]; }

# until_told NAME: the command of a job that lasts until `tell NAME`. A job of so and so many seconds may be over before a test on a busy
# machine has done what it wants to do meanwhile. Names are of one cluster.
until_told() { echo "until test -e $CLUSTER_DIR/told.$1; do sleep 0.2; done"; }
tell() { touch "$CLUSTER_DIR/told.$1"; }
# finish NAME JOB...: tells it, and waits until these jobs have ended. Before that they hold what they hold: a wait for processors, for a start or for an
# empty queue would be satisfied by them.
finish() { tell "$1" && wait_until 60 have_ended "${@:2}"; }

# have_ended JOB...: all of them.
have_ended() { queue_empty -j "$(IFS=,; echo "$*")"; }
# queue_empty [SQUEUE_OPTION...]: every job has ended. A squeue that fails knows no queue to be empty.
queue_empty() {
  local states
  states=$(squeue -h -t all "$@" -o %T) || return 1
  ! grep -qvE '^(COMPLETED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL|DEADLINE|OUT_OF_MEMORY|PREEMPTED|)$' <<<"$states"
}
job_state() { scontrol -o show job "$1" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p' | head -n 1; }
job_is() { test "$(job_state "$1")" = "$2"; }
# requeued_times JOB N: it was requeued so often. That it is pending for a while may pass unseen.
requeued_times() { test "$(job_field "$1" Restarts)" = "$2"; }
job_field() { scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }

# wait_drained [SECONDS]: every job has ended.
wait_drained() { wait_until "${1:-60}" queue_empty; }

# looked_at_places N: N jobs and tasks wait, and after that the plugin has looked at all their places and had no array to split; with_nothing_to_write N: nor a
# priority to write. The plugin says so whenever it has looked, every five seconds at least. What it had said when the first call found the jobs may
# be of others, and so may the next line, for which it may have begun to look before: only what follows counts.
looked_at_places() { _new_look "$1" '[0-9]*'; }
with_nothing_to_write() { _new_look "$1" 0; }
_new_look() {
  local log=$CLUSTER_DIR/log/slurmctld.log
  [ "$(squeue -h -r -t PENDING -o %i | wc -l)" -eq "$1" ] || { unset _looked_from; return 1; }
  : "${_looked_from:=$(lines_of "$log")}"
  tail -n "+$((_looked_from + 1))" "$log" | grep 'places looked at' | tail -n +2 | tail -n 1 |
    grep -q "the first \([1-9][0-9]*\) of \1 places looked at, $2 priorities to write, 0 arrays to split" && unset _looked_from
}

# start_order: "TIME JOB_ID" of every start, in slurmctld's own order (its log; several starts share a second elsewhere).
start_order() {
  sed -nE 's/^\[([^]]*)\] sched(\/backfill: _start_[a-z]+: (HETJOB: )?Started|: Allocate) JobId=([0-9]+_[0-9]+\()?([0-9]+).*/\1 \5/p' \
    "$CLUSTER_DIR/log/slurmctld.log"
}

# save_after COMMAND...: runs it, which leaves jobs waiting, and waits until slurmctld has saved what it did. A file that is younger than the command may
# have been begun before it; the next one was not. slurmctld saves only after a change, and this is one more: a comment on a waiting job.
save_after() { "$@" && next_save && next_save; }
next_save() {
  touch "$CLUSTER_DIR/changed"
  scontrol update JobId="$(squeue -h -t PENDING -o %A | head -n 1)" Comment="$RANDOM" && wait_until 20 jobs_saved
}
jobs_saved() { test "$CLUSTER_DIR/state/job_state" -nt "$CLUSTER_DIR/changed"; }
