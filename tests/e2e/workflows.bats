#!/usr/bin/env bats
# The workflows of one organization: the one that is behind goes first, until they are even; ranks stay above it.

load lib/e2e

workflows_of() { shapleyctl workflows "$1" --json | jq -r ".organizations[0] | $2"; }
workflows_are() { shapleyctl workflows "$1" --json | jq -e ".organizations[0] | $2"; }

# The jobs of a workflow end one by one, in the order in which they started: at each look, the next one of each account. The next look comes when
# shapleyd has seen that end and what started after it, and slurmctld has the levels that follow from it, however long that takes. So no order of
# starts depends on how fast the machine is.
looks=0
look() { echo "$((++looks))" >"$CLUSTER_DIR/looks.new" && mv "$CLUSTER_DIR/looks.new" "$CLUSTER_DIR/looks"; }
# its_turn ACCOUNT: lasts until the jobs of the account that started before have ended, and a look that none of them has taken.
its_turn() {
  echo "cd $CLUSTER_DIR/turns; t=1; until mkdir $1.started.\$t; do t=\$((t + 1)); done; begun=\$(cat ../looks)"
  echo "until n=\$(cat ../looks); test \$n -gt \$begun && test \$t = 1 -o -e $1.ended.\$((t - 1)) && mkdir $1.look.\$n; do sleep 0.1; done"
  echo "mkdir $1.ended.\$t"
}
ends_allowed() { find "$CLUSTER_DIR" -maxdepth 2 -path "$CLUSTER_DIR/gate.*" -o -path "$CLUSTER_DIR/turns/astro.look.*" | wc -l; }
all_ends_seen() {
  shapleyctl workflows astro --json | jq -e --argjson ends "$(ends_allowed)" '.organizations[0].workflows |
    length < 2 or ((map(.finished) | add) >= $ends and ((map(.running) | add) == 3 or (map(.pending) | add) == 0))'
}
# by_submission: no job of astro that could start has a higher priority than one that was submitted before it.
by_submission() { squeue -h -t PENDING -A astro -o '%A %Q %r' | awk '$3 != "Dependency"' | sort -n | awk 'NR > 1 && $2 > before { bad = 1 } { before = $2 } END { exit bad }'; }
# levels_followed: slurmctld serves astro by its levels; without any, in the order of submission.
levels_followed() { raised_above_others || { [ -z "$raised" ] && by_submission; }; }
look_until() { "$@" || { all_ends_seen && levels_followed && look && false; }; }

# submit_workflow ACCOUNT NAME PARTITION GATES: twelve jobs of activity NAME-align, of which each of the first GATES runs until its gate is open,
# and two of NAME-merge, which depend on all of them.
submit_workflow() {
  local account=$1 name=$2 partition=$3 i id command ids=""
  for ((i = 0; i < 12; ++i)); do
    command=$(its_turn "$account")
    [ "$i" -ge "$4" ] || command="until test -e $CLUSTER_DIR/gate.$i; do sleep 0.1; done"
    id=$(submit "$account" -p "$partition" -J "$name-align-$i" "$command") || return 1
    ids+=:$id
  done
  for i in 0 1; do
    submit "$account" -p "$partition" -J "$name-merge-$i" --dependency="afterok$ids" "sleep 1" >/dev/null || return 1
  done
}
remember_names() { squeue -h -t all -o '%A %j' | sort -u >"$CLUSTER_DIR/names"; }
# started_names WORKFLOWS: workflow and activity of every start of theirs, in order.
started_names() {
  start_order | awk 'NR == FNR { name[$1] = $2; next } $2 in name { print name[$2] }' "$CLUSTER_DIR/names" - |
    grep -E "^($1)-" | sed 's/-[0-9]*$//'
}
# early_before_late [PREFIX]: how many align jobs of the early workflow started before the first job of the later one.
early_before_late() { started_names "$1early|$1late" | awk '/late/ { exit } /align/ { ++n } END { print n + 0 }'; }
runs_of() { test "$(squeue -h -t RUNNING -o %j | grep -c "^$1-")" -ge "$2"; }
some_run() { test "$(squeue -h -t RUNNING -A "$1" -o %A | wc -l)" -ge "$2"; }
# priorities_of ACCOUNT NAMES: of its pending jobs that could start, ascending.
priorities_of() { squeue -h -t PENDING -A "$1" -o '%Q %r %j' | grep -v ' Dependency ' | grep -E " ($2)-[^ ]*$" | cut -d ' ' -f 1 | sort -n; }
# above A B: the least priority of one list is greater than the greatest of the other.
above() { [ "$(head -n 1 <<<"$1")" -gt "$(tail -n 1 <<<"$2")" ]; }
# raised_above_others: in slurmctld, too, the jobs that have a level come before the others of astro.
raised_above_others() {
  raised=$(workflows_of astro '.workflows[].raised[].job')
  squeue -h -t PENDING -A astro -o '%A %Q' | awk -v raised="$raised" '
    BEGIN { n = split(raised, job, "\n"); for (i in job) is_raised[job[i]] = 1 }
    $1 in is_raised { ++found; if (least == "" || $2 < least) least = $2; next }
    $2 > most { most = $2 }
    END { exit !(n > 0 && found == n && least > most) }'
}

@test "two workflows, one submitted later: under workflow_fairness they get even, under fifo the later one waits" {
  # The same load twice at the same time, each on a node of its own: astro by fairness, chem by fifo.
  CLUSTER_NODE_CPUS=(3 3 1)
  CLUSTER_EXTRA_CONF="PartitionName=left Nodes=n1 MaxTime=INFINITE DefaultTime=60 State=UP
PartitionName=right Nodes=n2 MaxTime=INFINITE DefaultTime=60 State=UP"
  cluster_prepare
  cluster_config "organizations:" \
    "  - name: astro" "    accounts: [astro]" "    nodes: [n1]" \
    "    within_organization: workflow_fairness" "    workflows: {workflow_key: [job_name_prefix], threshold: 0.1}" \
    "  - name: chem" "    accounts: [chem]" "    nodes: [n2]"
  cluster_start
  wait_until 15 plugin_connected
  mkdir -m 1777 "$CLUSTER_DIR/turns"
  look
  submit_workflow astro early left 3
  submit_workflow chem fifo-early right 3
  wait_until 20 some_run astro 3
  wait_until 20 some_run chem 3
  submit_workflow astro late left 0
  submit_workflow chem fifo-late right 0
  remember_names
  # Before: nothing of the later workflow runs, and its oldest jobs are raised.
  wait_until 20 workflows_are astro '.unfair and (.workflows[0] | .workflow == "name late" and .pending == 12 and .raised_jobs > 0)'
  workflows_are astro '.workflows[0].pending_work == 1'
  wait_until 20 raised_above_others
  # One job of the earlier workflow ends while others of it run: a look meanwhile shows that the later one is behind.
  touch "$CLUSTER_DIR/gate.0"
  wait_until 20 runs_of late 1
  touch "$CLUSTER_DIR"/gate.{1,2}
  # After: both run, both still have much to do, and they are even.
  wait_until 40 look_until workflows_are astro '(.unfair | not) and (.workflows | length == 2 and all(.running > 0 and .pending > 0))'
  workflows_are astro '.highest.eta > .threshold'
  wait_until 120 look_until queue_empty
  fair=$(early_before_late "")
  fifo=$(early_before_late fifo-)
  echo "jobs of the early workflow that start before the first of the later one: $fair by fairness, $fifo by fifo"
  [ "$fair" -eq 3 ]
  [ "$fifo" -eq 12 ]
  # Both came to their ends together: the last align jobs are of both.
  [ "$(started_names "early|late" | grep align | tail -n 6 | sort -u | wc -l)" -eq 2 ]
  expect_books_correct 56
}

rank_stays_above() { above "$(priorities_of chem other)" "$(priorities_of astro "early|late")"; }

@test "levels order the jobs of one organization and never pass the rank of another" {
  CLUSTER_NODE_CPUS=(2 2 2)
  cluster_prepare
  cluster_config "organizations:" \
    "  - name: chem" "    accounts: [chem]" "    nodes: [n1, n2]" \
    "  - name: astro" "    accounts: [astro]" "    nodes: [n3]" "    within_organization: workflow_fairness"
  cluster_start
  wait_until 15 plugin_connected
  # astro's early workflow runs on everything: astro owes, the rest of its jobs waits, and the late workflow is behind.
  blocker=$(submit astro -N3 --exclusive -J early-align-0 "sleep 3000")
  wait_until 20 job_is "$blocker" RUNNING
  for name in early late other; do
    account=astro
    [ "$name" != other ] || account=chem
    for i in 1 2 3; do submit "$account" -J "$name-align-$i" "sleep 1"; done >/dev/null
  done
  remember_names
  wait_until 20 workflows_are astro '.workflows[0] | .workflow == "name late" and .pending == 3 and .levels[1] == 15'
  wait_until 20 raised_above_others
  wait_until 20 rank_stays_above
  # chem is in fifo: it has no workflows.
  run shapleyctl workflows chem
  [ "$status" -eq 2 ]
  # A daemon that comes back finds the same.
  shapleyd_restart
  wait_until 15 plugin_connected
  wait_until 20 workflows_are astro '.workflows[0].levels[1] == 15'
  wait_until 20 raised_above_others
  wait_until 20 rank_stays_above
  # Taken off by a reload: the levels go, the rank stays.
  sed -i '/within_organization/d' "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 20 by_submission
  wait_until 20 rank_stays_above
  scancel "$blocker"
  wait_drained 60
  [ "$(started_names "early|late|other" | sed -n 2,4p | grep -c other)" -eq 3 ]
}
