#!/usr/bin/env bats
# Jobs that Slurm's limits hold, on a cluster with slurmdbd: explain names the limit, and says that ranks do not matter meanwhile.

load lib/e2e

setup() {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
  CLUSTER_EXTRA_CONF="AccountingStorageEnforce=associations,limits,qos"
}

limited_cluster() {
  eval "$(declare -f database_accounts | sed '1s/database_accounts/accounts_without_limits/')"
  database_accounts() {
    accounts_without_limits
    cat <<'LIMITS'
add qos small GrpTRES=cpu=5
modify account astro set qos=normal,small
modify account bio set GrpTRES=cpu=6
modify user daemon where account=acids set MaxJobs=1
add qos gold
modify account chem set qos=normal,gold
modify user daemon where account=chem set qos=normal,gold defaultqos=gold
LIMITS
  }
  cluster_prepare
  cluster_config "organizations:" "  - {name: golden, qos: [gold]}" "  - {name: astro, accounts: [astro], nodes: [\"n[1-2]\"]}" \
    "  - {name: bio, accounts: [bio], nodes: [n3]}" "  - {name: chem, accounts: [chem], nodes: [n4]}"
  cluster_start
  wait_until 15 plugin_connected
}

# held_by REASON JOB: squeue and explain agree on why it waits, and the plugin has sent it to the daemon.
held_by() {
  shapleyctl explain "$2" --json >"$CLUSTER_DIR/explanation.json" && [ "$(squeue -h -j "$2" -o %r)" = "$1" ] &&
    jq -e --arg reason "$1" '.slurm.job.reason == $reason and .waits_for == "account limit" and .job.state == "blocked"' "$CLUSTER_DIR/explanation.json" &&
    shapleyctl explain "$2" >"$CLUSTER_DIR/explanation"  # last: it shows what the other one was sent, too
}
says() { grep -qF -- "$1" "$CLUSTER_DIR/explanation" || { cat "$CLUSTER_DIR/explanation" >&2; false; }; }

@test "a limit of an account, of a user and of a QOS is named; when others end the job goes on; a default QOS decides" {
  limited_cluster
  # Of bio's six processors its account below has four, of the QOS' five astro's first job; acids may run one job.
  first=$(submit cells -n4 "$(until_told enough)")
  account=$(submit cells -n4 true)
  submit acids "$(until_told enough)" >/dev/null
  user=$(submit acids true)
  submit astro --qos=small -n4 "$(until_told enough)" >/dev/null
  qos=$(submit astro --qos=small -n4 true)
  wait_until 20 job_is "$first" RUNNING

  wait_until 20 held_by AssocGrpCpuLimit "$account"
  says "Slurm would not start it now whatever is free"
  says "reason AssocGrpCpuLimit: a limit of its account or user is reached; ranks do not matter until others of it end"
  wait_until 20 held_by AssocMaxJobsLimit "$user"
  says "reason AssocMaxJobsLimit: a limit of its account or user is reached"
  wait_until 20 held_by QOSGrpCpuLimit "$qos"
  says "reason QOSGrpCpuLimit: a limit of its QOS is reached; ranks do not matter until others of it end"
  # What a limit holds is no demand, so no job of it is ahead.
  wait_until 20 nothing_waits

  tell enough
  wait_drained 60
  wait_until 20 job_ended "$account"

  # A job without --qos is booked by the default QOS of its user's association, and explain --submit says so before.
  gold=$(submit chem "sleep 2")
  plain=$(submit chem --qos=normal "sleep 2")
  wait_drained 30
  wait_until 20 booked_for "$gold" golden
  wait_until 20 booked_for "$plain" chem
  would_be golden -A chem
  would_be chem -A chem -q normal
  would_be bio -A cells
  member shapleyctl explain --submit -A chem | grep -q "would be of golden: by the rule qos gold"
  # Without -A the user's default account decides, as of a job.
  unnamed=$(sbatch --parsable --uid="$JOB_UID" --gid="$JOB_GID" --chdir=/ -o /dev/null -n1 --wrap "sleep 2")
  wait_drained 30
  wait_until 20 booked_for "$unnamed" "$(member shapleyctl explain --submit --json | jq -r .job.organization)"
  [ "$(shapleyctl jobs -a -j "$unnamed" --json | jq -r '.jobs[0].account')" = "$(member shapleyctl explain --submit --json | jq -r .job.account)" ]
}
member() { setpriv --reuid="$JOB_UID" --regid="$JOB_GID" --clear-groups "$@"; }
booked_for() { [ "$(shapleyctl jobs -a -j "$1" --json | jq -r '.jobs[0].organization')" = "$2" ]; }
would_be() { [ "$(member shapleyctl explain --submit "${@:2}" --json | jq -r .job.organization)" = "$1" ]; }
nothing_waits() { status_json | jq -e '[.organizations[].waiting] | add == 0'; }
job_ended() { shapleyctl explain "$1" --json | jq -e '.job.state == "ended"'; }
