#!/usr/bin/env bats
# What Slurm's accounting says of the past, as a ledger, beside what shapleyd saw of it. Runs are charged what Slurm bills.

load lib/e2e

# On one node each, whose part sacct shows exactly: an array, short jobs, a requeue.
told_exactly_load() {
  local i job organizations=(astro bio chem)
  submit astro -N1 --array=1-5%2 -n2 "sleep 1" && submit bio -N1 --array=0-2 "sleep 2" || return 1
  for i in 0 1 2 3 4 5; do
    submit "${organizations[i % 3]}" -N1 -n$((1 + i % 4)) "sleep $((1 + i % 3)); exit $((i == 4))" || return 1
  done
  job=$(submit astro -N1 -n4 "$requeued_command") || return 1
  wait_until 60 booked "$job" && wait_until 10 seconds_passed 1 && scontrol requeue "$job"
}

export_history() {
  sacct -a -D -P -o JobID,JobIDRaw,User,UID,Group,GID,Account,Partition,QOS,State,Submit,Eligible,Start,End,ElapsedRaw,Suspended,TimelimitRaw,ReqCPUS,AllocCPUS,AllocTRES,NodeList >"$CLUSTER_DIR/sacct.txt"
}
# slurmdbd has heard of every end that jobcomp knows, and jobcomp of every run in the books.
sacct_has_all() {
  export_history
  [ "$(recorded_runs all | wc -l)" -ge "$(ledger_sql "SELECT COUNT(*) FROM (SELECT DISTINCT job, anchor FROM segments WHERE kind = 'run' AND retracted IS NULL)")" ] &&
    [ "$(awk -F '|' 'NR > 1 && $2 !~ /\./ && $19 > 0 && $14 ~ /T/' "$CLUSTER_DIR/sacct.txt" | wc -l)" -eq "$(recorded_runs all | wc -l)" ] &&
    ! awk -F '|' 'NR > 1 && $14 == "Unknown" { found = 1 } END { exit !found }' "$CLUSTER_DIR/sacct.txt"
}

import_history() {
  shapleyctl import --sacct "$CLUSTER_DIR/sacct.txt" --config "$CLUSTER_DIR/shapleyd.yaml" --nodes "$CLUSTER_DIR/nodes.txt" --reason "end-to-end test" "$@"
}

# runs LEDGER: what every run held when, but those that shapleyd saw suspended: when that was sacct does not show.
runs() {
  sqlite3 -readonly -cmd "ATTACH 'file:$CLUSTER_LEDGER?mode=ro' AS watched" "file:$1?mode=ro" "
    SELECT s.job, s.anchor, s.ordinal, s.begin, s.end, s.organization, s.processors, s.reason, n.node, n.processors
    FROM main.segments s JOIN main.segment_nodes n USING (kind, job, anchor, ordinal)
    WHERE s.kind = 'run' AND s.retracted IS NULL AND s.end > s.begin
      AND s.job NOT IN (SELECT job FROM watched.segments WHERE reason = 'suspended' AND retracted IS NULL)
    ORDER BY 1, 2, 3, 10"
}
# seconds LEDGER: of every run, the suspended ones, too.
seconds() {
  sqlite3 -readonly "file:$1?mode=ro" "
    SELECT job, anchor, organization, SUM(end - begin), MAX(end) FROM segments
    WHERE kind = 'run' AND retracted IS NULL GROUP BY job, anchor HAVING SUM(end - begin) > 0 ORDER BY 1, 2"
}
# standings LEDGER AT
standings() {
  shapleyctl status --json --ledger "$1" --at "$(date -u -d "@$2" +%FT%T)" |
    jq -r '.organizations[] | "\(.name) \(.psi) \(.phi_direct)"' | sort
}

# billed: "JOB START PROCESSORS" of every run that has ended, by sacct's AllocTRES; charged: the same by shapleyd's ledger.
billed() {
  SLURM_TIME_FORMAT=%s sacct -a -D -X -P -n -o JobIDRaw,Start,End,AllocTRES |
    awk -F '|' '$3 > $2 { print $1, $2, match($4, /billing=[0-9]+/) ? substr($4, RSTART + 8, RLENGTH - 8) : 0 }' | sort
}
charged() {
  ledger_sql "SELECT s.job, s.anchor, SUM(n.processors) / 1000000 FROM segments s JOIN segment_nodes n USING (kind, job, anchor, ordinal)
    WHERE s.kind = 'run' AND s.retracted IS NULL AND s.ordinal = (SELECT MAX(l.ordinal) FROM segments l
      WHERE l.kind = 'run' AND l.job = s.job AND l.anchor = s.anchor AND l.retracted IS NULL)
    GROUP BY s.job, s.anchor HAVING MAX(s.end) > s.anchor" | sort
}

@test "an export of sacct as a ledger: the audit finds nothing, the books are those that shapleyd kept, a gap is filled" {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
  CLUSTER_EXTRA_CONF="PartitionName=DEFAULT TRESBillingWeights=CPU=0.75"
  requeues_expected
  start_with "charge: billing"
  scontrol show nodes --oneliner >"$CLUSTER_DIR/nodes.txt"
  told_exactly_load
  wait_drained 90
  watched_until=$(date +%s)
  wait_until 10 seconds_passed 1
  # A ledger that knows no more than this has a gap.
  shapleyctl backup "$CLUSTER_DIR/gap.db"
  suspended_load
  wait_drained 60
  wait_until 20 nothing_open
  wait_until 30 sacct_has_all

  # What Slurm billed, three quarters of the CPUs in whole numbers, nothing of one CPU; and what it says that a node is worth.
  diff <(billed) <(charged)
  [ "$(charged | wc -l)" -ge 12 ] && charged | grep -q ' 0$' && charged | grep -q ' 3$'
  diff <(grep -oE 'NodeName=[^ ]+|billing=[0-9]+' "$CLUSTER_DIR/nodes.txt" | paste - - | sed -E 's/NodeName=|billing=//g' | tr '\t' ' ') \
    <(ledger_sql "SELECT node, whole / 1000000 FROM capacity WHERE at = (SELECT MAX(at) FROM capacity c WHERE c.node = capacity.node) ORDER BY node" | uniq)

  import_history --ledger "$CLUSTER_DIR/past.db"
  run shapleyctl audit "$CLUSTER_DIR/past.db" --against "$CLUSTER_DIR/sacct.txt"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(runs "$CLUSTER_LEDGER" | wc -l)" -ge 15 ]
  diff <(runs "$CLUSTER_LEDGER") <(runs "$CLUSTER_DIR/past.db")
  diff <(seconds "$CLUSTER_LEDGER" | cut -d '|' -f 1-4) <(seconds "$CLUSTER_DIR/past.db" | cut -d '|' -f 1-4)
  diff <(standings "$CLUSTER_LEDGER" "$watched_until") <(standings "$CLUSTER_DIR/past.db" "$watched_until")
  standings "$CLUSTER_DIR/past.db" "$watched_until" | grep -E '^astro [1-9]'

  # A ledger that a daemon writes is left alone, and a line that cannot be read writes nothing.
  run import_history --into "$CLUSTER_LEDGER"
  [ "$status" -eq 5 ]
  awk -F '|' -v OFS='|' 'NR == 2 { $11 = "yesterday" } { print }' "$CLUSTER_DIR/sacct.txt" >"$CLUSTER_DIR/bad.txt"
  run shapleyctl import --sacct "$CLUSTER_DIR/bad.txt" --config "$CLUSTER_DIR/shapleyd.yaml" --ledger "$CLUSTER_DIR/bad.db"
  [ "$status" -eq 2 ]
  [[ $output == *"line 2: Submit: 'yesterday' is no time"* ]]
  [ ! -e "$CLUSTER_DIR/bad.db" ]

  import_history --into "$CLUSTER_DIR/gap.db"
  run shapleyctl audit "$CLUSTER_DIR/gap.db" --against "$CLUSTER_DIR/sacct.txt"
  echo "$output"
  [ "$status" -eq 0 ]
  diff <(seconds "$CLUSTER_LEDGER" | cut -d '|' -f 1-4) <(seconds "$CLUSTER_DIR/gap.db" | cut -d '|' -f 1-4)
  run import_history --into "$CLUSTER_DIR/gap.db"
  [[ $output == *"nothing to import"* ]]

  # The same export and the ledger of it can be scheduled again.
  shapley-sim replay --config "$CLUSTER_DIR/shapleyd.yaml" --trace "$CLUSTER_DIR/sacct.txt" --nodes "$CLUSTER_DIR/nodes.txt" --json |
    jq -e '[.outcomes[] | select(.policy == "direct_contr") | .organizations[] | .jobs] | add >= 15'
  shapley-sim replay --config "$CLUSTER_DIR/shapleyd.yaml" --trace "$CLUSTER_DIR/past.db" --policies fcfs
}

@test "on nodes of unequal size runs got in a ledger of sacct what they got, by the accounts of their own cluster" {
  local at
  CLUSTER_DATABASE=yes CLUSTER_NODE_CPUS=(16 2 4 4)
  eval "$(declare -f database_accounts | sed '1s/database_accounts/accounts_of_one_cluster/')"
  # Two clusters of one slurmdbd: what sacctmgr lists without the name of one has two parents of an account.
  database_accounts() {
    accounts_of_one_cluster
    printf '%s\n' "add cluster other" "add account trade cluster=other" "add account stars parent=trade cluster=other"
  }
  start_with "charge: cpu"
  scontrol show nodes --oneliner >"$CLUSTER_DIR/nodes.txt"
  submit stars -N2 -n18 -w 'n[1-2]' "sleep 2" && submit stars -N2 -n15 -w 'n[1-2]' "sleep 3" && submit bio -n1 -w n2 "sleep 2" && submit chem -n4 -w n3 "sleep 2"
  wait_drained 60
  wait_until 20 nothing_open
  wait_until 30 sacct_has_all
  at=$(date +%s)

  sacctmgr -nP list associations format=Account,ParentName >"$CLUSTER_DIR/both.txt"
  run import_history --ledger "$CLUSTER_DIR/past.db" --accounts "$CLUSTER_DIR/both.txt"
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *": account stars has the parent "*"cluster=NAME"* ]]
  sacctmgr -nP list associations cluster=shapleytest format=Account,ParentName >"$CLUSTER_DIR/accounts.txt"
  import_history --ledger "$CLUSTER_DIR/past.db" --accounts "$CLUSTER_DIR/accounts.txt"
  shapleyctl audit "$CLUSTER_DIR/past.db" --against "$CLUSTER_DIR/sacct.txt"
  diff <(standings "$CLUSTER_LEDGER" "$at" | cut -d ' ' -f 1,2) <(standings "$CLUSTER_DIR/past.db" "$at" | cut -d ' ' -f 1,2)
  standings "$CLUSTER_DIR/past.db" "$at" | grep -E '^astro [1-9]'
  [ "$(shapleyctl explain --submit -A stars -n 2 --json | jq -r .job.organization)" = astro ]
}

# recorded_work: processor-seconds of all runs by jobcomp, those of suspended jobs by slurmctld.
recorded_work() {
  recorded_runs all | awk -v suspended="$CLUSTER_DIR/suspended-run-times" '
    function instant(text) { gsub(/[-T:]/, " ", text); return mktime(text) }
    BEGIN { while ((getline line <suspended) > 0) { split(line, word, " "); seconds[word[1]] = word[2] } }
    { sum += $4 * ($1 in seconds ? seconds[$1] : instant($3) - instant($2)) }
    END { print sum + 0 }'
}
# used WHAT: of the rows of `history --utilization`.
used() { shapleyctl history --utilization --json | jq "$1"; }

@test "what nodes were used for is what Slurm recorded: an array, parts, a suspension, a node that is drained for a while" {
  local paused
  CLUSTER_NODE_CPUS=(16 8 4 4) CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF=$CLUSTER_BACKFILL
  start_with
  submit astro -n4 "sleep 2"
  submit chem -w n1 -n8 "sleep 3"
  submit bio --array=1-3 -n2 "sleep 1"
  sbatch --uid="$JOB_UID" --gid="$JOB_GID" --account=chem --chdir=/ --output=/dev/null -n2 : -n1 --wrap="srun true"
  paused=$(submit chem -w n4 -n4 "$(until_told enough)")
  wait_until 30 booked "$paused"
  scontrol suspend "$paused"
  scontrol update nodename=n3 state=drain reason="a test"
  wait_until 10 seconds_passed 3
  scontrol resume "$paused"
  scontrol update nodename=n3 state=resume
  tell enough
  wait_drained 60
  wait_until 20 nothing_open "$paused"
  remember_run_times
  [ -s "$CLUSTER_DIR/suspended-run-times" ]
  [ "$(recorded_work)" -ge 38 ]  # of astro 8, of chem 24, of bio 6; how long the others run depends on the machine
  [ "$(used '[.utilization.rows[] | (.own, .lent).processor_seconds | tonumber] | add')" -eq "$(recorded_work)" ]
  [ "$(used '[.utilization.waits[] | select(.cpus == "all").started] | add')" -eq "$(recorded_runs all | wc -l)" ]
  [ "$(used '[.utilization.rows[] | select(.organization == "bio").down.processor_seconds | tonumber] | add')" -ge 8 ]
  used '.utilization.rows[] | [.capacity, .own, .lent, .idle_wanted, .idle_unwanted, .down | .processor_seconds | tonumber] | .[0] - (.[1:] | add)' >"$CLUSTER_DIR/rest"
  ! grep -qv '^-\?0$' "$CLUSTER_DIR/rest"
}
