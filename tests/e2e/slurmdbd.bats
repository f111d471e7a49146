#!/usr/bin/env bats
# A cluster with slurmdbd on MariaDB, accounts in a tree and enforced limits, beside the same with plain priority/multifactor.

load lib/e2e
load lib/pair

setup() {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
  CLUSTER_EXTRA_CONF="AccountingStorageEnforce=associations,limits,qos
PriorityDecayHalfLife=0
PriorityUsageResetPeriod=NONE
PriorityWeightFairshare=1000
PriorityWeightAssoc=100
PriorityWeightJobSize=5000
PriorityWeightQOS=300"
}

# states: "JOB RUNNING" and "JOB PENDING REASON", one a line, in order of job id.
states() { squeue -h -S i -o '%A %T %r' | sed 's/ RUNNING .*/ RUNNING/'; }
states_are() { diff <(states) "$PAIR_DIR/expected"; }

# both_reach LINE...: both clusters come to exactly these states.
both_reach() {
  printf '%s\n' "$@" >"$PAIR_DIR/expected"
  in_both wait_until 20 states_are || { in_both states; return 1; }
}

# Slurm names a job's reason before the plugin's next look at the queue shows it to shapleyd.
no_demand_waits() { [ "$(status_json | jq '[.organizations[].waiting] | add')" -eq 0 ]; }

# Time limits in minutes count for GrpTRESRunMins, less what has run: of 160 each and 200 for both, half an hour of the test is of no
# matter. The jobs run until they are cancelled.
submit_against_limits() {
  close_queue
  submit bio -n4 -t40 "sleep 3000" && submit cells -n2 -t40 "sleep 3000" && submit cells -n1 -t40 "sleep 3000" &&
    submit acids -t40 "sleep 3000" && submit acids -t40 "sleep 3000" && submit acids -t40 "sleep 3000" &&
    submit astro --qos=small -n4 -t40 "sleep 3000" && submit astro --qos=small -n2 -t40 "sleep 3000" &&
    submit pulsars -t40 "sleep 3000" && submit stars -n4 -t40 "sleep 3000" && submit stars -n4 -t40 "sleep 3000" || return 1
  open_queue
} >/dev/null

change_limits() {
  sacctmgr -i modify account pulsars set GrpTRESMins=cpu=100
  sacctmgr -i modify user daemon where account=acids set MaxJobs=3
} >/dev/null

@test "limits of accounts, users and QOS engage and release as with plain multifactor, also those that need its usage" {
  eval "$(declare -f database_accounts | sed '1s/database_accounts/accounts_without_limits/')"
  database_accounts() {
    accounts_without_limits
    cat <<'LIMITS'
add qos small GrpTRES=cpu=5
modify account astro set qos=normal,small
modify account bio set GrpTRES=cpu=6
modify user daemon where account=acids set MaxJobs=2
modify account pulsars set GrpTRESMins=cpu=1
modify account stars set GrpTRESRunMins=cpu=200
LIMITS
  }
  pair_start
  # More than a processor-minute of pulsars' own, so that its limit is used up as soon as multifactor has booked it.
  in_both submit pulsars -n16 -t1 "sleep 5"
  in_both wait_drained 30
  in_both submit_against_limits
  both_reach "2 RUNNING" "3 RUNNING" "4 PENDING AssocGrpCpuLimit" \
    "5 RUNNING" "6 RUNNING" "7 PENDING AssocMaxJobsLimit" \
    "8 RUNNING" "9 PENDING QOSGrpCpuLimit" \
    "10 PENDING AssocGrpCPUMinutesLimit" "11 RUNNING" "12 PENDING AssocGrpCPURunMinutesLimit"
  # shapleyd's demand does not count what an account's limit holds back.
  in_shapley wait_until 20 no_demand_waits
  # What holds a limit ends: the next one starts.
  in_both scancel 3 5 8 11
  both_reach "2 RUNNING" "4 RUNNING" "6 RUNNING" "7 RUNNING" "9 RUNNING" "10 PENDING AssocGrpCPUMinutesLimit" "12 RUNNING"
  in_both submit acids -t40 "sleep 3000"
  both_reach "2 RUNNING" "4 RUNNING" "6 RUNNING" "7 RUNNING" "9 RUNNING" "10 PENDING AssocGrpCPUMinutesLimit" "12 RUNNING" \
    "13 PENDING AssocMaxJobsLimit"
  in_both change_limits
  both_reach "2 RUNNING" "4 RUNNING" "6 RUNNING" "7 RUNNING" "9 RUNNING" "10 RUNNING" "12 RUNNING" "13 RUNNING"
  in_both scancel 2 4 6 7 9 10 12 13
  in_both wait_drained 20
  in_shapley expect_books_correct 4  # who was cancelled in the second of his start is no run
}

# A job or two in every account, of different sizes.
tree_load() {
  local account size=0
  for account in cells acids pulsars astro bio stars chem cells acids pulsars; do
    submit "$account" -n $((1 + size++ % 5)) --nice="$size" "sleep $((1 + size % 3))" || return 1
  done >/dev/null
}

# shares: what sshare says of every association without what depends on the seconds that jobs happened to run.
shares() { sshare -a -P -n -o Account,User,RawShares,NormShares; }

# booked_usage: "ACCOUNT SECONDS" of user daemon by sshare; summed_usage: the same, summed over sacct's rows.
booked_usage() { sshare -a -P -n -o Account,User,RawUsage | tr -d ' ' | awk -F '|' '$2 == "daemon" && $3 > 0 { print $1, $3 }' | sort; }
summed_usage() { sacct -a -D -X -P -n -o Account,CPUTimeRAW | awk -F '|' '$2 > 0 { sum[$1] += $2 } END { for (a in sum) print a, sum[a] }' | sort; }
usage_is_booked() { test -n "$(booked_usage)" && diff <(booked_usage) <(summed_usage); }
sacct_is_complete() { test "$(sacct -a -D -X -P -n -o End | grep -vc Unknown)" -eq "$1"; }

# user_factors: "ACCOUNT USER FACTOR" by sshare; status_factors: the same beside what these users got.
user_factors() { sshare -a -P -n -o Account,User,FairShare | tr -d ' ' | awk -F '|' '$2 == "daemon" { print $1, $2, $3 + 0 }' | sort; }
status_factors() { shapleyctl status --users -P -n | awk -F '|' '{ print $2, $3, $7 + 0 }' | sort; }
factors_agree() { diff <(user_factors) <(status_factors); }
factors_differ() { [ "$(user_factors | cut -d ' ' -f 3 | sort -u | wc -l)" -gt 1 ]; }

# sprio_factors: every factor but the rank and the priority that it is part of.
sprio_factors() { sprio -h -o '%i %A %B %F %J %P %Q %N' | sort -n; }

@test "a tree of accounts: organizations, ranks, sprio, sshare, sacct, and the audit of a sacct export" {
  pair_start
  in_both close_queue
  in_both tree_load
  # Every factor but the rank is plain multifactor's.
  in_plain sprio_factors >"$PAIR_DIR/plain"
  in_shapley sprio_factors >"$PAIR_DIR/shapley"
  [ "$(wc -l <"$PAIR_DIR/plain")" -eq 10 ]
  diff "$PAIR_DIR/plain" "$PAIR_DIR/shapley"
  diff <(in_plain shares) <(in_shapley shares)
  in_both open_queue
  in_both wait_drained 40
  in_both wait_until 20 sacct_is_complete 10
  # sshare's usage is sacct's processor-seconds, in both: nothing is lost or booked twice by passing job_end on.
  in_both wait_until 20 usage_is_booked
  use shapley
  expect_books_correct 10
  # A sub-account is its organization's, at any depth: the tree comes from slurmdbd.
  [ "$(shapleyctl jobs -a -P -n -o account,organization | sort -u | tr '\n' ' ')" = \
    "acids|chem astro|astro bio|bio cells|bio chem|chem pulsars|astro stars|astro " ]
  [ -z "$(compare_standings "$(date +%s)")" ]
  # The users of an organization add up to it, and sshare's factor is beside each.
  shapleyctl status --users --json >"$CLUSTER_DIR/users.json"
  jq -e '.users.exact and .users.no_fair_share == null and ([.users.organizations[].users[]] | length) == 7' "$CLUSTER_DIR/users.json"
  jq -e '([.organizations[] | [.name, (.got_processor_seconds | tonumber)]] | sort)
    == ([.users.organizations[] | [.name, ([.users[].got.processor_seconds | tonumber] | add // 0)]] | sort)' "$CLUSTER_DIR/users.json"
  jq -e '[.users.organizations[] | select(.name == "astro").users[] | .order] | min == 1' "$CLUSTER_DIR/users.json"
  # slurmctld computes factors when it starts: until then all are 1.
  ctld_restart
  wait_until 30 factors_differ
  wait_until 10 factors_agree
  sacct -a -D -P -o JobIDRaw,Start,End,State,AllocCPUS,Suspended >"$CLUSTER_DIR/sacct.txt"
  run shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_DIR/sacct.txt"
  [ "$status" -eq 0 ]
  [[ $output == *"10 runs compared"* ]]
  # The witness is one: an end that is not the books' is found.
  awk -F '|' -v OFS='|' 'NR == 2 { $3 = "2099-01-01T00:00:00" } { print }' "$CLUSTER_DIR/sacct.txt" >"$CLUSTER_DIR/sacct-changed.txt"
  run shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_DIR/sacct-changed.txt"
  [ "$status" -eq 1 ]
}
