#!/usr/bin/env bats
# Demand counts only where it can be served: which nodes waiting jobs may use, as slurmctld has it, and what that makes of their demand.

load lib/e2e

# contributes ORGANIZATION: whether its demand is worth something by hindsight. What was started late is shared by those who were there, so that
# the others may be a little below 0.
contributes() { shapleyctl status --json | jq -e --arg name "$1" '.organizations[] | select(.name == $name) | .phi_hindsight | tonumber > 0' >/dev/null; }
contributes_nothing() { ! contributes "$1"; }
# nodes_are PLACEMENT NODES: what the ledger says last.
nodes_are() {
  [ "$(ledger_sql "SELECT payload FROM events WHERE kind = 'placement_resolved' ORDER BY seq" |
    jq -rs --arg placement "$1" 'map(select(.placement == $placement)) | last | .nodes')" = "$2" ]
}
# Nodes are of several kinds where jobs may use some of them only.
kinds_are_divided() { [ "$(ledger_sql "SELECT json_array_length(payload, '\$.kinds') FROM events WHERE kind = 'hindsight_defined' ORDER BY seq DESC LIMIT 1")" -gt 0 ]; }

@test "a job that is pinned to a busy node earns its organization nothing; one that may run elsewhere does" {
  CLUSTER_NODE_CPUS=(4 4)
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}" \
    "  - {name: chem, accounts: [chem]}" "  - {name: dust, accounts: [dust]}"
  cluster_start
  wait_until 15 plugin_connected
  # astro uses both nodes, so chem's job waits for what astro needs itself, and dust's for what bio has to offer.
  for node in n1 n2; do
    job=$(submit astro -n4 -w "$node" "$(until_told both)")
    wait_until 30 job_is "$job" RUNNING
  done
  wait_until 30 kinds_are_divided
  pinned=$(submit chem -n4 -w n1 true)
  free=$(submit dust -n4 true)
  wait_until 30 waiting_is chem 4
  wait_until 30 waiting_is dust 4
  wait_until 30 nodes_are "partition=main nodes=n1" n1
  wait_until 30 nodes_are "partition=main" "n[1-2]"
  wait_until 30 contributes dust
  contributes_nothing chem

  # A node in a reservation of others is no offer to them.
  scontrol create reservation ReservationName=work StartTime=now Duration=60 Nodes=n2 Flags=MAINT,IGNORE_JOBS Users=root
  wait_until 30 nodes_are "partition=main" n1
  scontrol delete ReservationName=work
  wait_until 30 nodes_are "partition=main" "n[1-2]"
  # An edit of the job moves its demand: pinned to bio's node, which no other job waits for now, it is worth something.
  scancel "$free"
  scontrol update JobId="$pinned" ReqNodeList=n2
  wait_until 30 nodes_are "partition=main nodes=n2" n2
  wait_until 30 contributes chem

  # The same after both daemons were away.
  ctld_restart
  shapleyd_restart
  wait_until 15 plugin_connected
  wait_until 30 waiting_is chem 4
  nodes_are "partition=main nodes=n2" n2
  scancel "$pinned"
  tell both
  wait_drained 60
  # What was withdrawn counts for nothing, and no job asks for these nodes any more.
  wait_until 30 nodes_are "partition=main" ""
  contributes_nothing chem
  expect_books_correct 1
}
