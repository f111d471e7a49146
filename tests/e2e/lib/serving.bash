# The serving order against a program of its own (redecided): what waits, what every organization should hold and what it holds. To be sourced
# after books.bash.

owned_is() { status_json | jq -e --argjson all "$1" '[.organizations[].owned] | add | round == $all'; }

# four_organizations SED_EXPRESSION...: of 64 processors astro owns 32, bio and chem 16 each, arts none; slurm.conf edited before the start.
four_organizations() {
  local expression
  CLUSTER_NODE_CPUS=(16 16 16 16) CLUSTER_RANKING=""
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n2]}" "  - {name: bio, accounts: [bio], nodes: [n3]}" \
    "  - {name: chem, accounts: [chem], nodes: [n4]}" "  - {name: arts, accounts: [arts]}"
  for expression in 's/^SlurmctldDebug=.*/SlurmctldDebug=debug2/' "$@"; do sed -i "$expression" "$SLURM_CONF"; done
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 64
}

# JOBS_AS: for awk, of a job its organization, the processors that it blocks and, where that matters, the nodes that it may use. A test says it for its
# own cluster and jobs, from what squeue shows: CPUs, MiB, GRES, partition, name.
JOBS_AS='{ print organization, cpus }'
# jobs_in STATE: one a line, in Slurm's own order.
jobs_in() {
  squeue -h -r -t "$1" -o '%F|%K|%a|%C|%m|%b|%P|%j' | sort -t '|' -n -k1,1 -k2,2 | awk -F '|' "{
    organization = \$3; cpus = \$4; mib = \$5 + 0; gres = \$6; partition = \$7; name = \$8 } $JOBS_AS"
}
waiting() { jobs_in PENDING; }
held() { jobs_in RUNNING | awk -v name="$1" '$1 == name { sum += $2 } END { print sum + 0 }'; }
holds_at_least() { [ "$(jobs_in RUNNING | awk '{ sum += $2 } END { print sum + 0 }')" -ge "$1" ]; }

# note_what_should_start FREE: to be called when all is ready; FREE is a number of processors, or NODE=PROCESSORS,... where jobs differ in their nodes.
note_what_should_start() {
  waiting >"$CLUSTER_DIR/waiting"
  shapleyctl status
  status_json >"$CLUSTER_DIR/status.json"
  "$BATS_TEST_DIRNAME/redecided" "$CLUSTER_DIR/status.json" "$1" <"$CLUSTER_DIR/waiting" >"$CLUSTER_DIR/should"
}

# expect_rule TOLERANCE: each organization holds what it should, within so many processors, and, where it waits for enough, its guarantee less one
# job's width.
expect_rule() {
  local name should least bad=0
  while read -r name should least; do
    echo "$name holds $(held "$name"), should hold $should, guarantee $least"
    awk -v held="$(held "$name")" -v should="$should" -v by="$1" 'BEGIN { exit !(held - should <= by && should - held <= by) }' || bad=1
    awk -v held="$(held "$name")" -v least="$least" -v should="$should" -v by="$1" 'BEGIN { exit !(should < least || held >= least - by) }' || bad=1
  done <"$CLUSTER_DIR/should"
  return "$bad"
}

# give_leads NAME CORE_HOURS...: each gives so much, by an amount that is booked. While no residual run time is measured, m is an hour, and h core-hours
# lead by h + y processors, y^2 / U + y = h; U is half of what the guarantee leaves of what it owns, half a processor at least. Returns when the plugin
# has these leads.
give_leads() {
  local at
  at=$(date -u +%Y-%m-%dT%H:%M:%S)
  while [ $# -gt 0 ]; do
    [ "$2" = 0 ] || shapleyctl adjust --amount "$2h" --from "$1" --to commons --at "$at" --reason "a lead" --yes || return 1
    shift 2
  done
  wait_until 30 leads_are_the_plugins
}
# The last ones that slurmctld's log has are those of shapleyd, within two processors.
leads_are_the_plugins() {
  { grep 'priority/shapley: leads: ' "$CLUSTER_DIR/log/slurmctld.log" | tail -n 1 | sed 's/.*leads: //; s/,//g'
    status_json | jq -r '.organizations[] | select(.rank) | "\(.name) \(.lead)"'; } | awk '
    NR == 1 { for (i = 1; i < NF; i += 4) lead[$i] = $(i + 1); next }
    !($1 in lead) || lead[$1] - $2 > 2 || $2 - lead[$1] > 2 { exit bad = 1 }
    END { exit bad || NR < 2 }'
}

# scanned_since LINES: after these lines of slurmctld's log the plugin has begun to look at the jobs, has looked, and has written and parted what it then
# decided: the first look that was noted may have begun before, and the third one began after the second had written. SlurmctldDebug=debug2 notes them.
scanned_since() { [ "$(tail -n "+$(($1 + 1))" "$CLUSTER_DIR/log/slurmctld.log" | grep -c 'priority/shapley: scanned the jobs in')" -ge 3 ]; }
