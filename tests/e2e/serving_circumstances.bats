#!/usr/bin/env bats
# What an organization's waiting jobs ask for, and cannot get now, keeps it out of nothing that is free: in the circumstances that were wrong or could be. On a
# real slurmctld, against redecided.

load lib/e2e
load lib/serving
load lib/free

JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'
with_backfill() { CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"; }

@test "a wide job for all nodes, in another partition" {
  JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2,n3,n4" : "n3,n4") }'
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  wait_with 1 astro full -N 4 -n 64
  wait_for_free -p p2
  opens p2 33 64
}

@test "a list of two nodes, one of which is full" {
  JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n3" : "n3,n4") }'
  with_backfill
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  wait_with 1 astro full -n 32 -w n1,n3
  wait_for_free -t 5
  opens main 33 64
}

@test "nodes that power down" {
  CLUSTER_EXTRA_CONF="SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=100000
ResumeTimeout=600
SuspendTimeout=900
SlurmctldParameters=power_save_interval=1,power_save_min_interval=0"
  two_full_nodes
  scontrol update NodeName=n1,n2 State=POWER_DOWN
  wait_until 20 powers_down
  a_waits_for_p1_and_p2 32
}

# sinfo marks a node that powers down.
powers_down() { [ "$(sinfo -h -N -n n1,n2 -p main -o %T | grep -ci 'powering_down\|%')" = 2 ]; }

@test "a reservation that floats ahead" {
  with_backfill
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  scontrol create reservation ReservationName=short StartTime=now+20minutes Duration=600 Nodes=n[3-4] Users=daemon Flags=TIME_FLOAT
  a_waits_for_both main "-t 5" "-t 600"
}

@test "a reservation of licenses that is to come: long jobs, then short ones" {
  with_backfill
  LICENSES=40
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  scontrol create reservation ReservationName=course StartTime=now+20minutes Duration=600 Licenses=tool:40 Flags=LICENSE_ONLY Users=daemon
  a_waits_for_both main "-t 5 -L tool:1" "-t 600 -L tool:1"
}

@test "a reservation of licenses that is to come: a short job, then long ones" {
  with_backfill
  LICENSES=40
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  scontrol create reservation ReservationName=course StartTime=now+20minutes Duration=600 Licenses=tool:40 Flags=LICENSE_ONLY Users=daemon
  wait_with 1 astro free -n 2 -t 5 -L tool:1
  wait_with 12 astro full -n 2 -t 600 -L tool:1
  wait_with 11 astro free -n 2
  wait_with 20 bio free -n 2
  opens main 44 64
}

# half_of_each_node: of n1 and n2 half of the processors and some memory are free.
half_of_each_node() {
  with_backfill
  two_full_nodes 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_CPU_Memory/'
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8 --mem=100
}

@test "jobs for all memory of a node that has too little" {
  half_of_each_node
  wait_with 6 astro full -n 2 --mem=0 -p p1
  wait_for_free -p p2 --mem=10
  opens p2 38 48
}

@test "two whole nodes, of each of which half is free" {
  half_of_each_node
  wait_with 3 astro full -N 2-4 --exclusive -p p1
  wait_for_free -p p2 --mem=10
  opens p2 35 48
}

@test "a task of more processors than a node has left" {
  half_of_each_node
  wait_with 1 astro full -n 1 -c 12 -p p1
  wait_for_free -p p2 --mem=10
  opens p2 33 48
}

@test "memory by processor, more than a node has left" {
  half_of_each_node
  wait_with 3 astro full -n 1 -c 4 --mem-per-cpu=230 -p p1
  wait_for_free -p p2 --mem=10
  opens p2 35 48
}

@test "slurmctld is killed while jobs wait" {
  P2="DefaultTime=60 State=DOWN"
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  wait_with 12 astro full -n 2 -p p1
  wait_for_free -p p2
  wait_until 60 looked_at_places 44
  # Jobs that slurmctld has not saved when it is killed do not exist afterwards.
  save_after true
  ctld_kill9
  ctld_start
  wait_until 30 plugin_connected
  wait_until 30 nodes_ready
  opens p2 44 64
}

@test "a reservation that moves, the time limit of waiting jobs that changes" {
  with_backfill
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  scontrol create reservation ReservationName=course StartTime=now+20hours Duration=600 Nodes=n[3-4] Users=daemon
  wait_with 12 astro full -n 2 -t 600
  wait_with 12 astro free -n 2 -t 600
  wait_with 20 bio free -n 2 -t 5
  wait_until 60 looked_at_places 44
  scontrol update ReservationName=course StartTime=now+20minutes Duration=600
  for job in $(squeue -h -A astro -n free -o %A); do scontrol update JobId="$job" TimeLimit=5; done
  opens main 44 64
}

@test "a daily reservation and one of maintenance that is to come, jobs without a time limit" {
  with_backfill
  P2=MaxTime=UNLIMITED
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  scontrol create reservation ReservationName=night StartTime=now+20minutes Duration=60 Nodes=n3 Users=root Flags=DAILY
  scontrol create reservation ReservationName=service StartTime=now+30minutes Duration=60 Nodes=n4 Users=root Flags=MAINT,IGNORE_JOBS
  a_waits_for_both p2 "-p p2 -t 5" "-p p2"
}

# astro's first part goes first, which lowers astro's lead, so that bio's job for the whole machine has its turn before the second part.
@test "a heterogeneous job and one for the whole machine do not keep each other from it" {
  CLUSTER_NODE_CPUS=(2 2)
  CLUSTER_SCHEDULER=sched/backfill
  CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}"
  cluster_start
  wait_until 15 plugin_connected
  close_queue
  submit bio -n4 -t 60 "sleep 1"
  sbatch --parsable --uid="$JOB_UID" --gid="$JOB_GID" --chdir=/ --output=/dev/null --account=astro -n2 -t 10 : --account=astro -n1 -t 60 --wrap="sleep 1"
  wait_until 30 looked_at_places 3
  open_queue
  wait_until 30 queue_empty || { squeue -o '%i %a %C %T %r %Q %S'; sinfo -N; false; }
}
