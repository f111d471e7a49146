# A mixed load: every way in which a job of a real site begins, pauses and ends. To be sourced after jobs.bash.

running() { job_is "$1" RUNNING; }
pending() { job_is "$1" PENDING; }
suspended() { job_is "$1" SUSPENDED; }

# plain_load COUNT: short jobs of three organizations, of 0-3 s and 1-6 processors, some of them failing.
plain_load() {
  local i organizations=(astro bio chem)
  for ((i = 0; i < $1; ++i)); do
    submit "${organizations[i % 3]}" -n$((1 + i % 6)) "sleep $((i % 4)); exit $((i % 5 == 4))" || return 1
  done
}

array_load() {
  submit astro --array=1-8%3 -n2 "sleep 1"
  submit bio --array=0-5 "sleep \$((SLURM_ARRAY_TASK_ID % 3))"
}

# Jobs whose processors lie on nodes of several owners.
wide_load() {
  submit chem -N4 -n8 "sleep 2"
  submit astro -N2 -n10 --ntasks-per-node=5 "sleep 1"
  submit bio -N3 --exclusive "sleep 1"
}

# Cancelled while held, while waiting for a dependency, while running, and an array in its midst.
cancelled_load() {
  local held late long array
  held=$(submit astro --hold "sleep 1") && long=$(submit bio -n3 "sleep 300") || return 1
  late=$(submit chem --dependency=afternotok:"$long" "sleep 1") || return 1
  array=$(submit chem --array=1-6%2 "sleep 300") || return 1
  wait_until 90 running "$long" && wait_until 90 running "${array}_2" || return 1
  scancel "$held" "$late" "$long" "$array"
}

# Runs for minutes, but only one second once it was requeued.
requeued_command='[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || sleep 300; sleep 1'

# Requeued by hand, and held by a requeue and released.
requeued_load() {
  local plain held
  plain=$(submit astro -n4 "$requeued_command") && held=$(submit bio -n2 "$requeued_command") || return 1
  wait_until 90 running "$plain" && wait_until 90 running "$held" || return 1
  scontrol requeue "$plain" && scontrol requeuehold "$held" || return 1
  wait_until 90 pending "$held" && scontrol release "$held"
}

# Suspended once, twice, and cancelled while suspended. slurmd carries out a suspend and a resume in any order when they come at once, and
# then the job stays stopped for good: each is waited for.
suspended_load() {
  local once twice never command
  rm -f "$CLUSTER_DIR/told.suspensions"
  command=$(until_told suspensions)
  once=$(submit astro -n3 "$command") && twice=$(submit bio -n5 "$command") && never=$(submit chem -n2 "$command") || return 1
  wait_until 90 under_way "$once" && wait_until 90 under_way "$twice" && wait_until 90 under_way "$never" || return 1
  scontrol suspend "$once,$twice,$never" && wait_until 10 stopped "$once" && wait_until 10 stopped "$twice" &&
    wait_until 10 stopped "$never" && wait_until 10 seconds_passed 2 || return 1
  scontrol resume "$once,$twice" && wait_until 10 under_way "$once" && wait_until 10 under_way "$twice" || return 1
  wait_until 10 seconds_passed 0 && scontrol suspend "$twice" && wait_until 10 stopped "$twice" || return 1
  wait_until 10 seconds_passed 0 && scontrol resume "$twice" && wait_until 10 under_way "$twice" || return 1
  tell suspensions && scancel "$never"
}

# stopped JOB, under_way JOB: its script's process is stopped by slurmd, or is not.
stopped() { [ "$(_script_state "$1")" = T ]; }
under_way() { [[ $(_script_state "$1") == [RSD] ]]; }
_script_state() {
  local pid
  pid=$(pgrep -f "^/bin/sh $CLUSTER_DIR/spool/n[0-9]+/job0*$1/slurm_script" | head -n 1)
  [ -n "$pid" ] && sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "/proc/$pid/status"
}

# seconds_passed N: true N whole seconds after the first call in this shell that asked; Slurm's times have whole seconds.
seconds_passed() {
  : "${_seconds_from:=$EPOCHSECONDS}"
  ((EPOCHSECONDS - _seconds_from > $1)) && unset _seconds_from
}
