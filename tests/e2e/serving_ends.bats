#!/usr/bin/env bats
# Ends and returns of nodes count before the pass that they make possible: what comes free within one second goes to organizations that are below their
# guarantee by it. On a real slurmctld.

load lib/e2e
load lib/serving

# astro and bio own a node of 16 processors each; astro leads by more than the cluster has, so that only the guarantee, 8 processors, brings bio anything.
@test "waves of equal jobs that end together: each wave keeps the guarantee" {
  local wave running name
  CLUSTER_NODE_CPUS=(16 16) CLUSTER_RANKING=""
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 32
  give_leads astro 20 bio 0
  close_queue
  for i in $(seq 84); do submit astro -n 2 "$(until_told '$SLURM_JOB_ID')" >/dev/null; done
  for i in $(seq 84); do submit bio -n 2 "$(until_told '$SLURM_JOB_ID')" >/dev/null; done
  wait_until 60 looked_at_places 168
  open_queue
  running=""
  for wave in 1 2 3 4 5; do
    wait_until 60 replaced 32 $running
    running=$(squeue -h -t RUNNING -o %A)
    echo "wave $wave: astro holds $(held astro), bio holds $(held bio), guarantee 8"
    for name in astro bio; do [ "$(held "$name")" -ge 6 ]; done
    (cd "$CLUSTER_DIR" && touch $(printf 'told.%s ' $running))
  done
}
# replaced PROCESSORS JOB...: these jobs have ended, and others hold as many processors.
replaced() {
  local processors=$1
  shift
  { [ $# -eq 0 ] || have_ended "$@"; } && holds_at_least "$processors"
}

@test "nodes that return while others are busy: each organization gets its guarantee" {
  CLUSTER_NODE_CPUS=(16 16 16 16) CLUSTER_RANKING=""
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n2]}" "  - {name: bio, accounts: [bio], nodes: [n3]}" \
    "  - {name: chem, accounts: [chem], nodes: [n4]}" "  - {name: arts, accounts: [arts]}"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 64
  give_leads astro 108.5 bio 96.5 chem 0 arts 0
  scontrol update NodeName=n2,n4 State=DRAIN Reason=maintenance
  long=$(submit arts -N 2 --exclusive "sleep 3000")
  wait_until 30 booked "$long"
  for name in astro bio chem; do
    for i in $(seq 20); do submit "$name" -n 2 "sleep 3000" >/dev/null; done
  done
  wait_until 60 looked_at_places 60
  note_what_should_start 32
  cat "$CLUSTER_DIR/should"
  scontrol update NodeName=n2,n4 State=RESUME
  wait_until 60 holds_at_least 64
  expect_rule 2
}
