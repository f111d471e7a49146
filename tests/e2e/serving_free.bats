#!/usr/bin/env bats
# What is full keeps no organization out of what is free: its jobs that wait for a full partition, full nodes, nodes of a feature that are full, a full
# reservation or used up licenses do not count before its jobs that could start. On a real slurmctld, against redecided.

load lib/e2e
load lib/serving

# n1 and n2 are full with one long job of arts; astro owns n1 and n3, bio n2 and n4, arts nothing. Of 64 processors 32 come free, astro's and bio's own
# n3 and n4: 8 for the guarantee of each, and the others by lead, of which bio has six more.
two_full_nodes() {
  CLUSTER_NODE_CPUS=(16 16 16 16) CLUSTER_RANKING="guarantee: 1/4"
  CLUSTER_EXTRA_CONF+=$'\n'"Licenses=tool:1"
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n3]}" "  - {name: bio, accounts: [bio], nodes: [n2, n4]}" "  - {name: arts, accounts: [arts]}"
  sed -i -e '/^NodeName=n[12] /s/$/ Feature=old/' -e '/^NodeName=n[34] /s/$/ Feature=new/' "$SLURM_CONF"
  echo "PartitionName=p1 Nodes=n[1-2] DefaultTime=60" >>"$SLURM_CONF"
  echo "PartitionName=p2 Nodes=n[3-4] DefaultTime=60" >>"$SLURM_CONF"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 64
  give_leads astro 0 bio 0.6 arts 0
  for partition in main p2; do scontrol update PartitionName="$partition" State=DOWN; done
}
# full_with SBATCH_OPTION...: the long job of arts.
full_with() {
  long=$(submit arts --exclusive "$@" "sleep 3000")
  wait_until 30 booked "$long"
}

# a_waits_for_both OPENED FREE_OPTIONS FULL_OPTIONS: astro waits with 24 processors for what is full and behind them with 24 for what is free, bio with 40 for
# what is free only. Then the partition OPENED comes up.
a_waits_for_both() {
  local i
  for ((i = 0; i < 12; ++i)); do submit astro -n 2 --job-name=full $3 "sleep 3000" >/dev/null; done
  for ((i = 0; i < 12; ++i)); do submit astro -n 2 --job-name=free $2 "sleep 3000" >/dev/null; done
  for ((i = 0; i < 20; ++i)); do submit bio -n 2 --job-name=free $2 "sleep 3000" >/dev/null; done
  wait_until 60 looked_at_places 44
  JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'
  note_what_should_start n1=0,n2=0,n3=16,n4=16
  cat "$CLUSTER_DIR/should"
  scontrol update PartitionName="$1" State=UP
  wait_until 60 holds_at_least 64
  expect_rule 2
}

@test "a full partition" {
  two_full_nodes
  full_with -p p1 -N 2
  a_waits_for_both p2 "-p p2" "-p p1"
}

@test "full nodes that jobs name" {
  two_full_nodes
  full_with -p p1 -N 2
  a_waits_for_both main "" "--nodelist=n1"
}

# Slurm's main loop passes over the rest of a partition once a job of it finds no nodes; backfill does not.
@test "a feature whose nodes are full" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF=$CLUSTER_BACKFILL
  two_full_nodes
  full_with -p p1 -N 2
  a_waits_for_both main "--constraint=new" "--constraint=old"
}

@test "a full reservation" {
  two_full_nodes
  scontrol create reservation ReservationName=course StartTime=now Duration=600 Nodes=n[1-2] Users=daemon
  full_with -p p1 -N 2 --reservation=course
  a_waits_for_both main "" "--reservation=course"
}

# The license is used by the job that fills n1 and n2.
@test "licenses that are used up" {
  two_full_nodes
  full_with -p p1 -N 2 --licenses=tool:1
  a_waits_for_both main "" "--licenses=tool:1"
}
