#!/usr/bin/env bats
# What the shell of an ordinary user says, and a site to all who submit, changes no answer: with slurmdbd and PrivateData, each answer beside that
# of a clean shell.

load lib/e2e
load lib/hostile

setup() {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
  CLUSTER_EXTRA_CONF="AccountingStorageEnforce=associations
PrivateData=jobs,usage"
}

# By PrivateData the first sees its own jobs alone, the second sees all.
ORDINARY=bin OPERATOR=games
by() { setpriv --reuid="$1" --regid="$JOB_GID" --clear-groups "${@:2}"; }
# private_cluster [LINE]: of the configuration.
private_cluster() {
  eval "$(declare -f database_accounts | sed '1s/database_accounts/usual_accounts/')"
  database_accounts() {
    usual_accounts
    printf '%s\n' "add user $ORDINARY account=bio" "add user $OPERATOR account=chem adminlevel=Operator"
  }
  cluster_prepare
  three_organizations "$@" "munge_socket: $CLUSTER_DIR/run/munge.socket"
  sed -i 's/accounts: \[chem\]/accounts: [chem, "phys group"]/' "$CLUSTER_DIR/shapleyd.yaml"
  cluster_start
  sacctmgr -i add account name="phys group" >/dev/null
  wait_until 15 plugin_connected
}
jobs_are_private() { status_json | jq -e '.daemon.privacy.jobs == true'; }

# as SHELL USER ARGUMENT...: what shapleyctl says, its exit code included.
as() { local code=0; "$1" by "$2" shapleyctl --timeout 60 "${@:3}" 2>&1 || code=$?; echo "exit code $code"; }
json() { "$1" by "$2" shapleyctl --timeout 60 "${@:3}" --json; }
# Each prints what does not change from one moment to the next.
of_a_fixed_time() {
  local shell=$1 user=$2 month=(-S "$begin" -E "$end")
  as "$shell" "$user" statement "${month[@]}"
  as "$shell" "$user" statement "${month[@]}" --csv
  as "$shell" "$user" history "${month[@]}" --by minute -P
  as "$shell" "$user" history "${month[@]}" --utilization
  as "$shell" "$user" history "${month[@]}" --utilization --csv
  as "$shell" "$user" jobs -a -P -o job,organization,account,user,begin,end,state
  as "$shell" "$user" jobs -a -P -u daemon -o job,user
  as "$shell" "$user" jobs -a -u absent
  as "$shell" root adjust --user daemon -S "$begin" -E "$end" --to bio --reason "a test" | head -n 3
  as "$shell" "$user" explain "$own" | head -n 2
  as "$shell" "$user" statement -O absent "${month[@]}"
  as "$shell" "$user" report --users --utilization --no-charts "${month[@]}" -o "$CLUSTER_DIR/page.$shell.$user" | sed "s/page\.$shell/page/"
  cat "$CLUSTER_DIR/page.$shell.$user"/*
}
of_now() {
  local shell=$1 user=$2
  json "$shell" "$user" status --users | jq -S '{factors: [.users.organizations[].users[] | {account, user, fair_share}], why: .users.no_fair_share}'
  json "$shell" "$user" explain "$waiting" | jq -S '{place: (.place | del(.processors)), priority: (.priority | {agrees, why}),
    slurm: (.slurm | .parts |= length | .job |= {id, state, reason, partition, qos, utc: ((.start // "Z") | endswith("Z"))})}'
  json "$shell" "$user" explain --submit -A bio -n 2 -t 5 |
    jq -S '{job: (.job | del(.since, .since_utc, .submit, .submit_utc)), ahead, estimate: (.test_only | test("^Job .* to start at [-0-9T:]*Z "))}'
  json "$shell" "$user" explain --me | jq -S '{user, time_zone, no_slurm, no_places, jobs: [.jobs[] | {job_id, organization, partition, cpus, time_limit_s, reason,
    goes_first, known: .place.known, before: [.before[] | {organization, jobs}], utc: ((.by_slurm_utc // "Z") | endswith("Z")), fits_now}]}'
  as "$shell" "$user" health | sed 's/|.*//'
}
of_files() {
  local shell=$1
  rm -f "$CLUSTER_DIR/past.db"
  as "$shell" root init
  as "$shell" root check-config --against-slurm "$CLUSTER_DIR/shapleyd.yaml"
  as "$shell" root audit "$CLUSTER_DIR/copy.db" --against "$CLUSTER_DIR/sacct.txt"
  as "$shell" root import --ledger "$CLUSTER_DIR/past.db" --sacct "$CLUSTER_DIR/sacct.txt" --config "$CLUSTER_DIR/shapleyd.yaml" --reason "a test"
  as "$shell" root statement --ledger "$CLUSTER_DIR/past.db" -S "$begin" -E "$end"
}
# same KIND USER...: in both shells.
same() {
  local shell user
  for user in "${@:2}"; do
    for shell in plain hostile; do "$1" "$shell" "$user" >"$CLUSTER_DIR/$shell.answers"; done
    diff "$CLUSTER_DIR/plain.answers" "$CLUSTER_DIR/hostile.answers" || return 1
  done
}
answers_have() { grep -q -- "$1" "$CLUSTER_DIR/hostile.answers" || { cat "$CLUSTER_DIR/hostile.answers" >&2; false; }; }

@test "variables of Slurm's commands, another time zone and language, a greeting and PrivateData change no answer" {
  private_cluster
  wait_until 10 jobs_are_private
  begin=$(date -u +%FT%TZ)
  jobs=("$(submit stars -N4 --exclusive "sleep 2")" "$(submit cells "sleep 1")")
  own=$(sbatch --parsable --uid="$ORDINARY" --gid="$JOB_GID" --account=bio --chdir=/ --output=/dev/null --wrap="sleep 1")
  wait_drained 60
  wait_until 20 nothing_open "${jobs[@]}" "$own"
  end=$(date -u +%FT%TZ)
  wait_until 10 seconds_passed 1
  SLURM_TIME_FORMAT=%s sacct -a -D -P -o JobID,JobIDRaw,User,UID,Group,GID,Account,Partition,QOS,State,Submit,Eligible,Start,End,ElapsedRaw,Suspended,TimelimitRaw,ReqCPUS,AllocCPUS,AllocTRES,NodeList >"$CLUSTER_DIR/sacct.txt"
  shapleyctl backup "$CLUSTER_DIR/copy.db" >/dev/null
  for shell in plain hostile; do for user in "$ORDINARY" "$OPERATOR"; do install -d -o "$user" "$CLUSTER_DIR/page.$shell.$user"; done; done
  same of_a_fixed_time "$ORDINARY"
  answers_have "Waits are private here"
  same of_a_fixed_time "$OPERATOR"
  answers_have "the books know no organization 'absent'"
  answers_have "know a user 'absent'"
  answers_have "runs of user daemon (1)"
  answers_have ",started,main,1,,2,runs"
  same of_files root
  answers_have '^  - name: "phys_group"$'
  answers_have "correct to the last unit"

  held=$(submit stars -N4 --exclusive "$(until_told enough)")
  wait_until 20 job_is "$held" RUNNING
  waiting=$(sbatch --parsable --uid="$ORDINARY" --gid="$JOB_GID" --account=bio --chdir=/ --output=/dev/null --wrap="sleep 1")
  submit cells "sleep 1" >/dev/null
  greet_all
  wait_until 20 compared_with_the_books
  wait_until 60 same of_now "$OPERATOR" "$ORDINARY"
  answers_have '"estimate": true'
  answers_have '"fair_share": [0-9]'
  answers_have '"no_places": "jobs of others are private here (PrivateData)"'
  answers_have "\"job_id\": \"$waiting\""
  tell enough
  wait_drained 30
}
compared_with_the_books() { shapleyctl explain "$waiting" --json | jq -e '.priority.agrees == true'; }

@test "-M asks the shapleyd of a cluster where slurmdbd says that its slurmctld is, and Slurm's commands about it" {
  # `-M` asks the default port; no other test listens there.
  private_cluster "listen: 127.0.0.1:7020"
  held=$(submit stars -N4 --exclusive "$(until_told enough)")
  wait_until 20 job_is "$held" RUNNING
  waiting=$(submit bio "sleep 1")
  wait_until 20 compared_with_the_books
  # No socket and no place is known to this shell; slurm.conf's SlurmctldHost would be asked without -M.
  asked() { env -u SHAPLEY_SOCKET shapleyctl --timeout 60 "$@"; }
  hostile asked -M shapleytest explain "$waiting" --json | jq -e '.slurm.asked and .slurm.job.state == "PENDING" and .priority.agrees == true'
  hostile asked -M ShapleyTest status --users --json | jq -e '.daemon.cluster.name == "shapleytest" and .users.no_fair_share == null'
  run asked -M shapleytst status
  [ "$status" -eq 2 ]
  [[ $output == *"slurmdbd has no cluster 'shapleytst' (did you mean shapleytest?)"* ]]
  tell enough
  wait_drained 30
}
