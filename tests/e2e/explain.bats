#!/usr/bin/env bats
# "Why is my job waiting?", asked of a real slurmctld and a real shapleyd, as root and as a member.

load lib/e2e
load lib/order

# take_all: bio holds all nodes until `tell`, so that others wait for their turn.
take_all() {
  local job
  job=$(submit bio -N4 --exclusive "$(until_told enough)")
  wait_until 20 job_is "$job" RUNNING
  wait_until 10 ranked_is "astro chem bio"
}

# explain JOB: the answer, in the files that the assertions read. The one that is waited for comes first: what holds in it holds a moment later, too.
explain() { shapleyctl explain "$1" --json >"$CLUSTER_DIR/explanation.json" && shapleyctl explain "$1" >"$CLUSTER_DIR/explanation"; }
says() { grep -qF -- "$1" "$CLUSTER_DIR/explanation" || { cat "$CLUSTER_DIR/explanation" >&2; false; }; }
tells() { jq -e "$1" "$CLUSTER_DIR/explanation.json" >/dev/null || { jq . "$CLUSTER_DIR/explanation.json" >&2; false; }; }
is_fifth() { explain "$1" && tells '.priority.agrees == true and .place.known and .place.position == 5 and .place.of == 7'; }

@test "a job that waits because of its rank: who is before it, and its priority is what the books ask for" {
  start_with
  take_all
  submit_interleaved 2
  submit bio --nice=7 true >/dev/null
  waiting=$(squeue -h -t PENDING -A bio -o %A | sort -n | head -n 1)
  wait_until 10 priorities_follow "astro chem bio"
  wait_until 10 is_fifth "$waiting"
  says "is of bio: by the rule account bio"
  says "bio has rank"
  tells '.ahead.jobs == 4 and .own.jobs == 2 and ([.ahead.organizations[] | select(.jobs > 0) | .organization] == ["astro", "chem"])'
  tells '.slurm.asked and .slurm.job.state == "PENDING"'
  says ", as the books ask for."
  says "SITE $(sprio -h -j "$waiting" -o %S | tr -d ' ')"
  says "Place: 5th of 7 that wait, "
  # One that is not submitted would be behind the same ranks; Slurm says when it would start.
  ahead=$(jq -c .ahead "$CLUSTER_DIR/explanation.json")
  would=$(member shapleyctl explain --submit -A bio -n 2 -t 5 -p main --json)
  jq -e --argjson ahead "$ahead" '.ahead == $ahead and .job.organization == "bio" and .own.jobs == 3 and (.test_only | test("to start at"))' <<<"$would"
  # The page of the present has the same place.
  page=$CLUSTER_DIR/spool/live
  install -d -o "$JOB_UID" "$page"
  member shapleyctl report --live -o "$page"
  grep -q "<th scope=\"row\" class=\"text\">$waiting</th><td class=\"text\">bio</td><td>5</td>" "$page/index.html"
  # A member of the cluster may ask, too.
  member shapleyctl explain "$waiting" | grep -q "bio has rank"
  # One that an administrator set by hand is not what the books ask for, and one that is held has no priority.
  scontrol update jobid="$waiting" priority=4242
  wait_until 10 explained "$waiting" '.priority.agrees != true and (.priority.why | test("set directly"))'
  held=$(submit chem --hold true)
  wait_until 10 explained "$held" '.job.state == "blocked" and (.priority.why | test("held"))'
  says "holds it"
  # One that goes behind all others by its own wish does not wait for its turn.
  behind=$(submit chem --nice=20000 true)
  wait_until 10 explained "$behind" '.job.state == "blocked" and .waits_for == "nice"'
  says "goes behind jobs of other organizations by its own wish and is no demand in the books"
}
# explained JOB WHAT: the answer says it; the plugin and the daemon may not have heard of what was done a moment ago.
explained() { explain "$1" && tells "$2"; }
member() { setpriv --reuid="$JOB_UID" --regid="$JOB_GID" --clear-groups "$@"; }

# placed JOB PLACE OF: what explain says, and beside it that as many jobs are of better ranks.
placed() { explain "$1" && tells ".priority.agrees == true and .place.position == $2 and .place.of == $3 and .ahead.jobs == $2 - 1 and ([.place.before[].jobs] | add) == $2 - 1"; }
has_own_record() { squeue -h --array-unique -t PENDING -o '%i %A' | awk -v task="$1" -v array="${1%_*}" '$1 == task && $2 != array { found = 1 } END { exit !found }'; }
# Slurm shows the array as one, whatever records it has.
lists_of_array() { squeue -h -t PENDING -o %F | grep -c "^$1\$"; }

@test "an array counts as its tasks, also where the plugin gave them records of their own: place, ranks, the page, and a task by its name" {
  local array own last page=$CLUSTER_DIR/live
  start_with
  take_all
  array=$(submit astro -n4 --array=1-10 "sleep 1")
  own=$(submit chem -n2 "sleep 1")
  last=$(submit bio -n4 "sleep 1")
  wait_until 20 has_own_record "${array}_3"
  [ "$(lists_of_array "$array")" -eq 1 ]
  wait_until 20 eval 'placed "$last" 12 12 && tells ".ahead.processors == 42"'
  says "Place: 12th of 12 that wait, 1st of bio: astro 10 jobs with 40 processors and chem 1 job with 2 go before it."
  says "Better ranks: 11 jobs that ask for 42 processors, of astro (rank 1: 10 jobs, 40 processors"
  wait_until 10 explained "${array}_3" '.place.known and .place.of == 12 and .job.job_id == "'"${array}"'_3" and .priority.agrees == true'
  [ "$(jq .job.job "$CLUSTER_DIR/explanation.json")" != "$array" ]
  says "Slurm:    state PENDING"
  shapleyctl report --live -o "$page"
  [ "$(grep -c "<th scope=\"row\" class=\"text\">${array}" "$page/index.html")" -ge 2 ]
  grep -q "<th scope=\"row\" class=\"text\">${array}_3</th><td class=\"text\">astro</td>" "$page/index.html"
  grep -q "<th scope=\"row\" class=\"text\">$last</th><td class=\"text\">bio</td><td>12</td>" "$page/index.html"
  grep -q "<th scope=\"row\" class=\"text\">$own</th>" "$page/index.html"
  # One that is cancelled while it is held is over, and nothing releases it.
  held=$(submit chem --hold true)
  wait_until 10 explained "$held" '.waits_for == "held"'
  says "scontrol release lets it go"
  scancel "$held"
  wait_until 20 explained "$held" '.job.state == "ended" and .slurm.job.state == "CANCELLED"'
  grep -q "^Slurm:    state CANCELLED\.$" "$CLUSTER_DIR/explanation"
}

# own_tells WHAT: of the member's own jobs.
own_tells() { member shapleyctl explain --me --json >"$CLUSTER_DIR/own.json" && jq -e "$1" "$CLUSTER_DIR/own.json" >/dev/null; }

@test "one's own jobs in one table: places, what goes before each, when they start, and with how many CPUs one would start now" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF=$CLUSTER_BACKFILL
  start_with
  held=$(submit bio -N3 --exclusive -t 10 "$(until_told enough)")
  wait_until 20 job_is "$held" RUNNING
  # Nobody's jobs but root's: they are not in the table.
  other=$(sbatch --parsable --account=astro -n64 -t 5 --chdir=/ --output=/dev/null --wrap=true)
  wide=$(submit chem -n64 -t 5 true)
  long=$(submit bio -n2 -t 60 true)
  array=$(submit bio -n64 -t 5 --array=1-3 true)
  later=$(submit bio --dependency="afterok:$held" true)
  wait_until 30 own_tells '.time_zone == "UTC" and ([.jobs[] | select(.place.known)] | length) >= 3'
  own_tells 'all(.jobs[]; .job_id != "'"$other"'") and (.no_places == null)'
  own_tells '[.jobs[] | select(.job_id == "'"$long"'") | (.place.position - 1) == ([.before[].jobs] | add) and (.before | length) > 0] == [true]'
  own_tells '[.jobs[] | select(.job_id == "'"$later"'") | .organization == "" and .reason == "Dependency"] == [true]'
  own_tells '[.jobs[] | select(.job_id == "'"$wide"'").by_slurm_utc | endswith("Z")] == [true]'
  # 64 CPUs are not idle, 16 are.
  wait_until 30 own_tells '[.jobs[] | select(.job_id == "'"$wide"'").fits_now.cpus] == [16]'
  member shapleyctl explain --me >"$CLUSTER_DIR/explanation"
  says "all times are UTC."
  says "16 CPUs"
  member shapleyctl explain --me -P | head -n 1 | grep -qx 'job_id|organization|partition|cpus|time_limit_s|reason|place|of|before_jobs|before|goes_first|by_rule|by_slurm|fits_cpus|fits_time_limit_s'
  [ "$(member shapleyctl explain --me -P | wc -l)" -eq "$(jq '.jobs | length + 1' "$CLUSTER_DIR/own.json")" ]
  scancel "$array" "$later" "$wide" "$long" "$other"
  tell enough
  wait_until 30 own_tells '.jobs == []'
  member shapleyctl explain --me | grep -q "^No job of .* waits at "
}

# fits WISH: what is said of the job that asked for it; null: nothing.
fits() { jq -r --arg job "${jobs[$1]}" '.jobs[] | select(.job_id == $job) | .fits_now.cpus' "$CLUSTER_DIR/own.json"; }
all_fit() {
  local wish
  own_tells true && for wish in "${!fit[@]}"; do [ "$(fits "$wish")" = "${fit[$wish]}" ] || return 1; done
}
has_started() { [[ $(job_state "$1") == @(RUNNING|COMPLETING|COMPLETED) ]]; }

@test "on nodes of unequal size that is as many CPUs as fit the nodes and tasks that a job asks for, and what asks for so many starts" {
  local held wish job
  local -A jobs
  # 4, 5, 4 and 4 CPUs are idle. The last ones ask for more than CPUs, tasks and nodes.
  local -A fit=(["-n 32"]=17 ["-n 16 -N 1"]=5 ["-n 20 -N 2"]=9 ["-n 24 -N 2-3"]=13 ["-n 8 -c 4"]=16 ["-n 7 -c 4 -N 3"]=12 ["-n 2 -c 8"]=null
    ["-n 24 -L tool:2"]=null ["-n 20 --sockets-per-node=1"]=null)
  CLUSTER_NODE_CPUS=(16 8 4 4) CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL
Licenses=tool:2"
  start_with
  for held in "$(submit bio -w n1 -n12 -t 10 "$(until_told enough)")" "$(submit bio -w n2 -n3 -t 10 "$(until_told enough)")"; do
    wait_until 20 job_is "$held" RUNNING
  done
  for wish in "${!fit[@]}"; do jobs[$wish]=$(submit chem -t 5 $wish true); done
  wait_until 30 all_fit
  for wish in "-n 17" "-n 5 -N 1" "-n 9 -N 2" "-n 13 -N 2-3" "-n 4 -c 4" "-n 3 -c 4 -N 3"; do
    job=$(submit chem -t 5 $wish true)
    wait_until 30 has_started "$job"
  done
  scancel "${jobs[@]}"
  tell enough
  wait_drained 30
}

@test "a job that waits for another one: Slurm's reason in a sentence; ranks say nothing about it" {
  start_with
  first=$(submit astro "$(until_told enough)")
  second=$(submit astro --dependency=afterok:"$first" true)
  wait_until 10 job_is "$first" RUNNING
  wait_until 10 dependency_is_told "$second"
  says "Slurm would not start it now whatever is free"
  says "it waits for other jobs that it depends on"
  says "Depends on afterok:$first"
  says "not compared with the books: sprio does not list it, because it is not its time yet (Dependency)"
  later=$(submit astro --begin=now+3600 true)
  wait_until 10 explained "$later" '.slurm.job.reason == "BeginTime" and .priority.agrees == null'
  says "because it is not its time yet (BeginTime)"
  scancel "$later"
  tell enough
  wait_drained 30
}
dependency_is_told() { explain "$1" && tells '.slurm.job.reason == "Dependency" and .waits_for == "dependency"'; }

@test "who of two goes first, since when, and what started next at a past instant" {
  start_with
  take_all
  bio=$(submit bio "sleep 1")
  astro=$(submit astro "sleep 1")
  wait_until 10 priorities_follow "astro bio"
  wait_until 10 compared "$bio" "$astro"
  jq -e '.first == "astro" and .because != null and .since.keys != null' "$CLUSTER_DIR/comparison.json"
  shapleyctl explain "$bio" --against "$astro" | grep -q "^astro goes before bio: "
  shapleyctl explain bio --against astro | grep -q "^It has done so since "
  shapleyctl status --forecast | grep -q "This is exact as long as no job starts or ends"
  then=$(date -u +%FT%TZ)
  wait_until 10 seconds_passed 1
  tell enough
  wait_drained 30
  wait_until 20 both_ended "$bio" "$astro"
  shapleyctl explain "$bio" --at "$then" >"$CLUSTER_DIR/explanation"
  says "It has waited for"
  says "Started next:"
  says "job $astro of astro (rank 1)"
  shapleyctl explain "$bio" >"$CLUSTER_DIR/explanation"
  says "It ran on 1 processor from "
  says "Before it started it had waited for "
  # Slurm answers that it does not know a job.
  [ "$(shapleyctl explain "$bio" --json | jq .slurm.asked)" = true ]
  run squeue --jobs=4000000
  [[ $output == *"Invalid job id"* ]]
  # The daemon answers every user about the past.
  member shapleyctl explain "$bio" --at "$then" --json >"$CLUSTER_DIR/explanation.json"
  tells '.past and .job.state == "waiting" and (.next_starts | length) == 2'
}
compared() { shapleyctl explain "$1" --against "$2" --json >"$CLUSTER_DIR/comparison.json" && jq -e '[.sides[].job.state] == ["waiting", "waiting"]' "$CLUSTER_DIR/comparison.json"; }
both_ended() { shapleyctl explain "$1" --against "$2" --json | jq -e '[.sides[].job.state] == ["ended", "ended"]' >/dev/null; }

# told_as_ended JOB...: by `jobs -a` and by explain.
told_as_ended() {
  local job
  for job; do
    [ "$(shapleyctl jobs -a -j "$job" --json | jq -c '[.jobs[].state] | unique')" = '["ended"]' ] && explain "$job" &&
      tells '.job.state == "ended"' || return 1
  done
}

@test "jobs that are cancelled while they could not start are over in the books" {
  start_with
  held=$(submit astro --hold true)
  later=$(submit bio --begin=now+3600 true)
  requeued=$(submit chem "$(until_told enough)")
  array=$(submit astro --hold --array=1-3 true)
  wait_until 10 job_is "$requeued" RUNNING
  wait_until 10 booked "$requeued"
  wait_until 10 seconds_passed 1  # a run of no second would leave nothing to compare
  scontrol requeuehold "$requeued"
  wait_until 30 explained "$requeued" '.waits_for == "held"'
  wait_until 10 explained "$held" '.job.state == "blocked"'
  wait_until 10 explained "$later" '.waits_for == "begin time"'
  wait_until 10 explained "$array" '.job.state == "blocked"'
  scancel "$held" "$later" "$requeued" "$array"
  wait_until 20 told_as_ended "$held" "$later" "$requeued" "$array"
  tell enough
  expect_books_correct
  # They asked for nothing, and count for nothing.
  [ "$(ledger_sql "SELECT COUNT(*) FROM segments WHERE kind = 'wait' AND retracted IS NULL AND job IN ($held, $later, $array)")" -eq 0 ]
}
