# A mixed load: every way in which a job of a real site begins, pauses and ends. To be sourced after jobs.bash.

running() { job_is "$1" RUNNING; }
pending() { job_is "$1" PENDING; }

# have_begun JOB...: none waits any more; unlike RUNNING that does not pass.
have_begun() {
  local pending
  pending=$(squeue -h -t PENDING -j "$(IFS=,; echo "$*")" -o %A) && [ -z "$pending" ]
}

# plain_load COUNT [LEAST]: short jobs of three organizations, of LEAST (0) to LEAST + 3 s and 1-6 processors, some of them failing.
plain_load() {
  local i organizations=(astro bio chem)
  for ((i = 0; i < $1; ++i)); do
    submit "${organizations[i % 3]}" -n$((1 + i % 6)) "sleep $((${2:-0} + i % 4)); exit $((i % 5 == 4))" || return 1
  done
}

array_load() {
  submit astro --array=1-8%3 -n2 "sleep 1"
  submit bio --array=0-5 "sleep \$((SLURM_ARRAY_TASK_ID % 3))"
}

# Jobs whose processors lie on nodes of several owners. One that needs whole nodes holds up all jobs behind it, so it must not wait for a job
# that lasts until `tell` or a cancellation: these have begun when the function returns.
wide_load() {
  local jobs=()
  jobs+=("$(submit chem -N4 -n8 "sleep 2")") && jobs+=("$(submit astro -N2 -n10 --ntasks-per-node=5 "sleep 1")") &&
    jobs+=("$(submit bio -N3 --exclusive "sleep 1")") && wait_until 60 have_begun "${jobs[@]}"
}

# Cancelled while held, while waiting for a dependency, while running, and an array in its midst.
cancelled_load() {
  local held late long array
  held=$(submit astro --hold "sleep 1") && long=$(submit bio -n3 "sleep 3000") || return 1
  late=$(submit chem --dependency=afternotok:"$long" "sleep 1") || return 1
  array=$(submit chem --array=1-6%2 "sleep 3000") || return 1
  wait_until 60 running "$long" && wait_until 60 running "${array}_2" || return 1
  scancel "$held" "$late" "$long" "$array"
}

# Runs for an hour, but only one second once it was requeued.
requeued_command='[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || sleep 3000; sleep 1'

# A busy machine may need as long as this to start a job whose credential is at hand; the requeued one waits for it.
requeues_expected() { CLUSTER_CRED_EXPIRE_S=15; }

# Requeued by hand, and held by a requeue and released.
requeued_load() {
  local plain held
  plain=$(submit astro -n4 "$requeued_command") && held=$(submit bio -n2 "$requeued_command") || return 1
  wait_until 60 booked "$plain" "$held" || return 1
  scontrol requeue "$plain" && scontrol requeuehold "$held" || return 1
  wait_until 60 pending "$held" && scontrol release "$held"
}

# Suspended once, twice, and cancelled while suspended.
suspended_load() {
  local once twice never command
  rm -f "$CLUSTER_DIR/told.suspensions"
  command=$(until_told suspensions)
  once=$(submit astro -n3 "$command") && twice=$(submit bio -n5 "$command") && never=$(submit chem -n2 "$command") || return 1
  wait_until 60 under_way "$once" && wait_until 60 under_way "$twice" && wait_until 60 under_way "$never" || return 1
  suspend_job "$once" && suspend_job "$twice" && suspend_job "$never" && wait_until 10 seconds_passed 2 || return 1
  resume_job "$once" && resume_job "$twice" && wait_until 10 seconds_passed 0 || return 1
  suspend_job "$twice" && wait_until 10 seconds_passed 0 && resume_job "$twice" || return 1
  tell suspensions && scancel "$never"
}

# suspend_job JOB, resume_job JOB: slurmctld says so and the script's process is stopped, or goes on. slurmd loses a suspension that comes while
# the step begins, and carries out what comes at once in any order: it is asked again until it is so.
suspend_job() { ask_again 5 "$1" suspend stopped resume under_way; }
resume_job() { ask_again 5 "$1" resume under_way suspend stopped; }

# ask_again TIMES JOB REQUEST STATE OPPOSITE OPPOSITE_STATE
ask_again() {
  local times=$1 job=$2
  while ((times-- > 0)); do
    scontrol "$3" "$job" && wait_until 3 "$4" "$job" && return
    scontrol "$5" "$job" && wait_until 3 "$6" "$job"
  done
  say "job $job: scontrol $3 has no effect"
  return 1
}

# stopped JOB, under_way JOB: its script's process is stopped by slurmd, or is not.
stopped() { [ "$(_script_state "$1")" = T ]; }
under_way() { [[ $(_script_state "$1") == [RSD] ]]; }
_script_state() {
  local pid
  pid=$(script_process "$1")
  [ -n "$pid" ] && sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "/proc/$pid/status"
}

# seconds_passed N: true N whole seconds after the first call in this shell that asked; Slurm's times have whole seconds.
seconds_passed() {
  : "${_seconds_from:=$EPOCHSECONDS}"
  ((EPOCHSECONDS - _seconds_from > $1)) && unset _seconds_from
}

# load_across_a_kill: for a slurmctld that is about to be killed. It writes its state every few seconds and forgets what came after: a job that
# ended meanwhile would run on in its books, and in jobcomp twice. So the machine is full of jobs that outlast the kill; `tell kill` ends them.
# None of those that wait meanwhile is over in the second in which it begins: what such a job asked for before is undone by then, and whether it
# takes a second is luck.
load_across_a_kill() {
  local astro bio chem
  save_usage && plain_load 12 && wait_drained 60 || return 1
  astro=$(submit astro -N2 --exclusive "$(until_told kill)") && bio=$(submit bio -N1 --exclusive "$(until_told kill)") || return 1
  chem=$(submit chem -N1 --exclusive "$(until_told kill)") || return 1
  wait_until 20 job_is "$astro" RUNNING && wait_until 20 job_is "$bio" RUNNING && wait_until 20 job_is "$chem" RUNNING || return 1
  save_after plain_load 6 1
}
