# What the harness does to the cluster while it is in trouble: the load. Every choice comes from `pick`, so a seed repeats it.

# pick N: sets `picked` to 0 .. N-1. Not a command substitution: a subshell's draw would not advance the sequence.
pick() { picked=$((RANDOM % $1)); }

pick_organization() { pick 3; case $picked in 0) organization=astro ;; 1) organization=bio ;; *) organization=chem ;; esac; }

# Slurm's commands wait for a slurmctld that does not answer; the load does not. A submission that is refused (a full disk)
# is no job and no difference.
slurm() { timeout 10 "$@" >>"$CLUSTER_DIR/log/load.out" 2>&1; }
offer() { slurm submit_short "$@" || true; }
export -f submit 2>/dev/null
submit_short() { submit "$1" --time=1 "${@:2}"; }

# any_job STATE: sets `job` to one of the jobs in that state, or fails.
any_job() {
  local jobs
  mapfile -t jobs < <(timeout 10 squeue -h -t "$1" -o %A 2>/dev/null)
  [ ${#jobs[@]} -gt 0 ] || return 1
  pick ${#jobs[@]}
  job=${jobs[picked]}
}

load_plain() {
  local i count
  pick 3; count=$((picked + 1))
  for ((i = 0; i < count; ++i)); do
    pick_organization
    pick 6; local width=$((picked + 1))
    pick 5; local seconds=$picked
    pick 4
    offer "$organization" -n"$width" "sleep $seconds.$((picked * 2)); exit $((picked % 2))"
  done
}
