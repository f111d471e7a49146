#!/usr/bin/env bats
# shapleyd hangs, while hundreds of jobs start and end: what organizations hold still counts in the places. On a real slurmctld.

load lib/e2e
load lib/serving

ended_at_least() { [ "$(squeue -h -r -t COMPLETED -o %i | wc -l)" -ge "$1" ]; }

# astro leads by far, so that only the guarantee, 8 processors, brings bio anything. astro holds all 64 when 16 come free.
@test "more starts and ends than the plugin remembers, while shapleyd is stopped" {
  CLUSTER_NODE_CPUS=(16 16 16 16) CLUSTER_RANKING=""
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n2]}" "  - {name: bio, accounts: [bio], nodes: [n3]}" \
    "  - {name: chem, accounts: [chem], nodes: [n4]}" "  - {name: arts, accounts: [arts]}"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 64
  give_leads astro 108.5 bio 0 chem 0 arts 0
  shapleyd_freeze
  submit arts -n 1 --array=1-400%4 true
  wait_until 120 ended_at_least 400
  close_queue
  for i in $(seq 4); do submit astro -n 4 "$(until_told wave)" >/dev/null; done
  first=$(squeue -h -t PENDING -o %A)
  for i in $(seq 12); do submit astro -n 4 "sleep 3000" >/dev/null; done
  wait_until 60 looked_at_places 16
  open_queue
  wait_until 60 holds_at_least 64
  for i in $(seq 20); do submit astro -n 2 "sleep 3000" >/dev/null; submit bio -n 2 "sleep 3000" >/dev/null; done
  wait_until 60 looked_at_places 40
  finish wave $first
  wait_until 60 holds_at_least 64
  shapleyd_thaw
  for name in astro bio; do echo "$name holds $(held "$name")"; done
  [ "$(held bio)" -ge 6 ]
}
