# The load under which faults are injected: short jobs, arrays, jobs across owners, cancels, requeues, suspensions. Every choice
# comes from `pick`, so a seed repeats it. To be sourced after tests/e2e/lib/jobs.bash.

# pick N: sets `picked` to one of 0 .. N-1. Not a command substitution: a subshell's draw would not advance the sequence.
pick() { picked=$((RANDOM % $1)); }

# Slurm's commands wait long for a slurmctld that does not answer; the load does not.
sbatch() { timeout 10 sbatch "$@"; }
squeue() { timeout 10 squeue "$@"; }
scontrol() { timeout 10 scontrol "$@"; }
scancel() { timeout 10 scancel "$@"; }

# offer SBATCH_OPTION... COMMAND: a job of some organization. One that slurmctld refuses (its disk is full) is no job and no difference.
offer() {
  local organizations=(astro bio chem)
  pick 3
  submit "${organizations[picked]}" --time=1 "$@" >>"$CLUSTER_DIR/log/load.out" 2>&1 || true
}

# some_job STATE: sets `job` to one of the jobs in that state, or fails.
some_job() {
  local jobs
  mapfile -t jobs < <(squeue -h -t "$1" -o %i 2>/dev/null | sort -n)
  [ ${#jobs[@]} -gt 0 ] || return 1
  pick ${#jobs[@]}
  job=${jobs[picked]}
}
on_some_job() {  # on_some_job STATE COMMAND...: COMMAND JOB; a job that ended meanwhile is no fault
  local job
  some_job "$1" && "${@:2}" "$job" >>"$CLUSTER_DIR/log/load.out" 2>&1 || true
}

load_plain() {
  local width seconds
  pick 6; width=$((picked + 1))
  pick 6; seconds=$picked
  pick 10
  offer -n"$width" "sleep $seconds.$picked; exit $((picked == 0))"
}
# A dozen runs of up to two seconds, in three submissions.
load_burst() {
  local i
  for i in 1 2 3; do
    pick 4
    offer --array=0-3 -n$((picked + 1)) "sleep \$((SLURM_ARRAY_TASK_ID % 3)).$picked"
  done
}
load_long() { pick 6; offer -n$((picked + 3)) "sleep $((6 + picked))"; }
load_array() { pick 4; offer --array=0-$((picked + 1))%3 -n2 "sleep \$((SLURM_ARRAY_TASK_ID % 3))"; }
load_wide() { pick 3; offer -N$((picked + 2)) -n$((2 * (picked + 2))) "sleep $((picked + 1))"; }
load_cancel() { pick 3; on_some_job "$([ "$picked" -eq 0 ] && echo PENDING || echo RUNNING)" scancel; }
load_requeue() { on_some_job RUNNING scontrol requeue; }
load_suspend() { on_some_job RUNNING scontrol suspend; }
load_resume() { on_some_job SUSPENDED scontrol resume; }

# An amount that two organizations agreed on. It is booked when shapleyctl says so, and alone where the other controller did not have it.
# $CLUSTER_DIR/adjusted: the reasons of those that must be there from then on.
load_adjust() { next_adjustment && order_adjustment "$adjustments"; }
adjustments=0
next_adjustment() { adjustments=$((adjustments + 1)); }
order_adjustment() {
  local said
  if said=$(timeout 3 shapleyctl adjust --amount 1s --from astro --to bio --at "$(date -u +%FT%TZ)" --reason "fault $1" --yes 2>&1) &&
    [[ $said != *"only this host has it"* ]]; then
    echo "fault $1" >>"$CLUSTER_DIR/adjusted"
  fi
  echo "$said" >>"$CLUSTER_DIR/log/load.out"
}
# adjustments_kept: each of them is in the books, and none twice.
adjustments_kept() {
  local listed
  listed=$(shapleyctl adjust --list --json | jq -r '.adjustments[].reason' | sort) && [ -z "$(uniq -d <<<"$listed")" ] &&
    [ -z "$(sort "$CLUSTER_DIR/adjusted" | comm -23 - <(echo "$listed"))" ]
}

loads=(burst plain plain plain long array wide cancel requeue suspend resume adjust adjust)

# one_load: something of the mixed load, if slurmctld can take it.
one_load() {
  pick ${#loads[@]}
  [ "$ctld" = up ] || return 0
  "load_${loads[picked]}"
}

# end_stragglers: cancels what no longer ends by itself. slurmctld killed after a job ended and before it saved that takes the job for
# running until its time limit; some suspended jobs are never resumed; slurmctld holds jobs whose start failed.
end_stragglers() {
  local old
  old=$(squeue -h -t RUNNING,SUSPENDED -o '%i %S' | awk -v before="$(date -d '-20 seconds' +%FT%T)" '$2 < before { print $1 }')
  old+=" $(squeue -h -t PENDING -o '%i %r' | awk 'tolower($0) ~ /held/ { print $1 }')"
  [ -z "${old// /}" ] || scancel $old >>"$CLUSTER_DIR/log/load.out" 2>&1 || true
}

# slurmd drains a node when a job that slurmctld forgot and starts again still runs there ("Duplicate jobid"): an administrator's work.
nodes_back() {
  local drained
  drained=$(sinfo -h -N -t drain,down -o %N | sort -u | paste -sd,)
  [ -z "$drained" ] || scontrol update nodename="$drained" state=resume
}

# drained: every job has ended, or is ended.
drained() { nodes_back; end_stragglers; queue_empty; }
