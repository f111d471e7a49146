#!/usr/bin/env bats
# charge: billing where one partition is cheaper than another: prices are of what organizations get and give. What they own, use and may count on is
# in processors of nodes, whatever Slurm bills.

load lib/e2e
load lib/serving

# two_prices MAIN_WEIGHTS CHEAP_WEIGHTS: all nodes are in both partitions. astro owns n1 and n2, bio n3 and n4, of 16 processors each.
two_prices() {
  CLUSTER_RANKING=""
  CLUSTER_EXTRA_CONF="PartitionName=cheap Nodes=ALL DefaultTime=60 $2"
  cluster_prepare
  cluster_config "charge: billing" "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n2]}" "  - {name: bio, accounts: [bio], nodes: [n3, n4]}"
  sed -i "/^PartitionName=main /s/\$/ $1/" "$SLURM_CONF"
  cluster_start
  wait_until 15 plugin_connected
}

# row_is NAME CONDITION: of the organization's row of the status.
row_is() { status_json | jq -e --arg name "$1" '.organizations[] | select(.name == $name) | '"$2"; }
row_of() { status_json | jq -c --arg name "$1" '.organizations[] | select(.name == $name) | {name, rank, owned, used, lent, borrowed, below_guarantee, got_processor_seconds}'; }

@test "a debtor that runs in a cheap partition on more than it owns is not below its guarantee" {
  two_prices TRESBillingWeights=CPU=1.0 TRESBillingWeights=CPU=0.1
  give_leads bio 40 astro 0
  cheap=$(submit astro -p cheap -N 3 -n 48 -w n1,n2,n3 "sleep 3000")
  dear=$(submit bio -p main -w n4 -n 16 "sleep 3000")
  wait_until 30 booked "$cheap" "$dear"
  for name in astro bio; do submit "$name" -p main -n 1 "sleep 3000"; done
  for name in astro bio; do wait_until 30 row_is "$name" '.waiting_jobs == 1'; done
  row_of astro
  row_of bio
  row_is astro '.owned == 32 and .used == 48 and .borrowed == 16 and .lent == 0'
  row_is bio '.owned == 32 and .used == 16 and .borrowed == 0 and .lent == 16'
  row_is astro '(.below_guarantee | not) and .rank == 2'
  row_is bio '(.below_guarantee | not) and .rank == 1'
}

# got_is NAME JOB PROCESSORS: it got so many for each second of the run of its only job.
got_is() {
  row_is "$1" ".got_processor_seconds | tonumber == $3 * $(ledger_sql "SELECT SUM(end - begin) FROM segments WHERE kind = 'run' AND job = $2 AND retracted IS NULL")"
}

@test "a node that is in a partition without weights, too, is worth its CPUs: what Slurm bills is booked" {
  two_prices "" TRESBillingWeights=CPU=0.25
  full=$(submit astro -p main -N 4 -n 64 "$(until_told full)")
  wait_until 30 booked "$full"
  wait_until 10 seconds_passed 2
  finish full "$full"
  cheap=$(submit bio -p cheap -N 4 -n 64 "$(until_told cheap)")
  wait_until 30 booked "$cheap"
  wait_until 10 seconds_passed 2
  finish cheap "$cheap"
  wait_until 20 nothing_open "$full" "$cheap"
  row_of astro
  row_of bio
  scontrol -o show job "$full" | grep -o 'TRES=[^ ]*'
  scontrol -o show job "$full" | grep -q 'TRES=[^ ]*billing=64'
  wait_until 20 got_is astro "$full" 64
  wait_until 20 got_is bio "$cheap" 16
  row_is astro '.owned == 32'
}

@test "check-config warns of nodes whose partitions have different prices, and says what a bill of 0 means" {
  two_prices "" TRESBillingWeights=CPU=0.25
  run shapleyctl check-config --against-slurm "$CLUSTER_DIR/shapleyd.yaml"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *warning*"n[1-4]"*"different TRESBillingWeights"*cheap*main* ]]
  [[ $output == *"billed 0"* ]]
}
