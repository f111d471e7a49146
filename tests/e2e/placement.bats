#!/usr/bin/env bats
# Demand counts only where it can be served: which nodes waiting jobs may use, as slurmctld has it, and what that makes of their demand.

load lib/e2e

# phi_rate ORGANIZATION: its contribution by shapley_rate.
phi_rate() { shapleyctl status --json | jq -r --arg name "$1" '.organizations[] | select(.name == $name) | .phi_rate'; }
contributes() { [ "$(phi_rate "$1" | awk '{ print ($1 > 0) }')" = 1 ]; }
# nodes_are PLACEMENT NODES: what the ledger says last.
nodes_are() {
  [ "$(ledger_sql "SELECT payload FROM events WHERE kind = 'placement_resolved' ORDER BY seq" |
    jq -rs --arg placement "$1" 'map(select(.placement == $placement)) | last | .nodes')" = "$2" ]
}

@test "a job that is pinned to a busy node earns its organization nothing; one that may run elsewhere does" {
  CLUSTER_NODE_CPUS=(4 4)
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}" \
    "  - {name: chem, accounts: [chem]}" "  - {name: dust, accounts: [dust]}"
  cluster_start
  wait_until 15 plugin_connected
  # astro uses both nodes, so chem's job waits for what astro needs itself, and dust's for what bio has to offer.
  both=$(submit astro -N2 --exclusive "$(until_told both)")
  wait_until 30 job_is "$both" RUNNING
  pinned=$(submit chem -n4 -w n1 true)
  free=$(submit dust -n4 true)
  wait_until 30 waiting_is chem 4
  wait_until 30 waiting_is dust 4
  wait_until 30 nodes_are "partition=main nodes=n1" n1
  wait_until 30 nodes_are "partition=main" "n[1-2]"
  wait_until 30 contributes dust
  [ "$(phi_rate chem)" = 0 ]

  # A node in a reservation of others is no offer to them.
  scontrol create reservation ReservationName=work StartTime=now Duration=60 Nodes=n2 Flags=MAINT,IGNORE_JOBS Users=root
  wait_until 30 nodes_are "partition=main" n1
  scontrol delete ReservationName=work
  wait_until 30 nodes_are "partition=main" "n[1-2]"
  # An edit of the job moves its demand: pinned to bio's node it is worth something.
  scontrol update JobId="$pinned" ReqNodeList=n2
  wait_until 30 nodes_are "partition=main nodes=n2" n2
  wait_until 30 contributes chem

  # The same after both daemons were away.
  ctld_restart
  shapleyd_restart
  wait_until 15 plugin_connected
  wait_until 30 waiting_is chem 4
  nodes_are "partition=main nodes=n2" n2
  scancel "$pinned" "$free"
  tell both
  wait_drained 60
  # What was withdrawn counts for nothing, and no job asks for these nodes any more.
  wait_until 30 nodes_are "partition=main nodes=n2" ""
  [ "$(phi_rate chem)" = 0 ]
  expect_books_correct 1
}
