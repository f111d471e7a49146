#!/usr/bin/env bats
# Ends and returns of nodes count before the pass that they make possible: what comes free within one second goes to organizations that are below their
# guarantee by it. On a real slurmctld.

load lib/e2e
load lib/serving
load lib/gate

# On a large site half a second passes between two looks of the plugin at all records, because each look takes some milliseconds. So twelve thousand held
# jobs wait here, too: what ends together is replaced before the plugin looks again.
with_long_queue() { CLUSTER_SCAN_S=2 CLUSTER_EXTRA_CONF+=$'\n'"MaxJobCount=20000"; }
held_tasks=12012
long_queue() {
  local i
  held_arrays=()
  for ((i = 0; i < 12; ++i)); do held_arrays+=("$(submit guests --hold --array=0-1000 true)"); done
  # An edit of some tasks gives each of them a record.
  for i in "${held_arrays[@]}"; do scontrol update JobId="${i}_[0-999]" Nice=1; done
}

# astro and bio own a node of 16 processors each; astro leads by more than the cluster has, so that only the guarantee, 8 processors, brings bio anything.
@test "waves of equal jobs that end together: each wave keeps the guarantee" {
  local wave name bad=no
  CLUSTER_NODE_CPUS=(16 16) CLUSTER_RANKING=""
  with_long_queue
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}"
  cluster_start
  prepare_gate
  wait_until 15 plugin_connected
  wait_until 30 owned_is 32
  give_leads astro 20 bio 0
  close_queue
  for i in $(seq 48); do submit astro -n 4 "$(until_together)" >/dev/null; done
  for i in $(seq 32); do submit bio -n 4 "$(until_together)" >/dev/null; done
  long_queue
  wait_until 60 looked_at_places $((80 + held_tasks))
  open_queue
  for wave in 1 2 3 4 5 6; do
    wait_until 60 holds_at_least 32
    echo "wave $wave: astro holds $(held astro), bio holds $(held bio), guarantee 8"
    for name in astro bio; do [ "$(held "$name")" -ge 4 ] || bad=yes; done
    end_together $(squeue -h -t RUNNING -o %A)
  done
  scancel "${held_arrays[@]}"
  [ "$bad" = no ]
}

# 32 processors return, as many as the guarantees of the three add up to, 16, 8 and 8; their leads are far apart. Slurm's next pass comes at once, so no
# answer of shapleyd may be needed for it: it is stopped meanwhile.
@test "nodes that return while others are busy: each organization gets its guarantee" {
  four_organizations
  give_leads astro 108.5 bio 96.5 chem 0 arts 0
  scontrol update NodeName=n2,n4 State=DRAIN Reason=maintenance
  long=$(submit arts -N 2 --exclusive "sleep 3000")
  wait_until 30 booked "$long"
  for name in astro bio chem; do
    for i in $(seq 20); do submit "$name" -n 2 "sleep 3000" >/dev/null; done
  done
  wait_until 60 looked_at_places 60
  shapleyd_freeze
  scontrol update NodeName=n2,n4 State=RESUME
  wait_until 60 holds_at_least 64
  shapleyd_thaw
  for name in astro bio chem arts; do echo "$name holds $(held "$name")"; done
  [ "$(held astro)" -ge 14 ]
  [ "$(held bio)" -ge 6 ]
  [ "$(held chem)" -ge 6 ]
}
