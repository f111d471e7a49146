#!/usr/bin/env bats
# What a partition, a reservation or a user has of nodes that others use, too, and jobs that start together: what is not free for a job keeps its
# organization out of nothing that is free. On a real slurmctld, against redecided.

load lib/e2e
load lib/serving
load lib/free

JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'
with_backfill() { CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"; }

# as_another: jobs that are submitted next are another user's.
as_another() { JOB_UID=$(id -u bin) JOB_GID=$(id -g bin); }

# arts has as much of n1 and n2 as p1 may have, half of each.
@test "a partition that has all that it may have of its nodes" {
  P1="DefaultTime=60 MaxCPUsPerNode=8"
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8
  a_waits_for_both p2 "-p p2" "-p p1" 48
}

# The other half of n1 and n2 is idle, and reserved.
@test "nodes of which the rest is a reservation of cores" {
  with_backfill
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8
  scontrol create reservation ReservationName=course StartTime=now Duration=600 Nodes=n[1-2] CoreCnt=8,8 Users=root
  a_waits_for_both p2 "-p p2" "-p p1" 48
}

@test "a reservation of cores that is free" {
  with_backfill
  FREE=n1=8,n2=8,n3=16,n4=16
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8
  scontrol create reservation ReservationName=course StartTime=now Duration=600 Nodes=n[1-2] CoreCnt=8,8 Users=daemon
  wait_with 8 astro full -n 2 --reservation=course
  wait_for_free
  opens main 40 64
}

@test "nodes that are one user's, in a partition with ExclusiveUser" {
  P1="DefaultTime=60 ExclusiveUser=YES"
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8
  as_another
  a_waits_for_both p2 "-p p2" "-p p1" 48
}

@test "nodes that are one user's, by --exclusive=user" {
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8 --exclusive=user
  as_another
  a_waits_for_both p2 "-p p2" "-p p1" 48
}

@test "jobs with --exclusive=user for nodes that others use" {
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8
  as_another
  a_waits_for_both p2 "-p p2" "-p p1 --exclusive=user" 48
}

# Slurm's main scheduler starts nothing behind such a part on the nodes of its partition, and backfill the rest out of turn: what is free is used, and
# the guarantee is kept.
@test "parts of heterogeneous jobs for which there is room, and parts for which there is none" {
  local i
  with_backfill
  two_full_nodes '$aPartitionName=p3 Nodes=n[3-4] DefaultTime=60'
  full_with -p p1 -N 2 --exclusive
  for ((i = 0; i < 6; ++i)); do
    sbatch --parsable --uid="$JOB_UID" --gid="$JOB_GID" --chdir=/ --output=/dev/null --account=astro -p p1 --job-name=full -n 2 : \
      --account=astro -p p3 --job-name=full -n 2 --wrap="sleep 3000"
  done
  wait_for_free -p p2
  wait_until 60 looked_at_places 44
  scontrol update PartitionName=p2 State=UP
  wait_until 60 holds_at_least 64
  echo "astro holds $(held astro), bio $(held bio)"
  [ "$(held astro)" -ge 8 ] && [ "$(held bio)" -ge 8 ]
}

# Slurm's main scheduler passes over jobs that it could start with less time only and fills the nodes with others, so it is off here.
@test "jobs that backfill would start with less time, before a reservation that is to come" {
  with_backfill
  CLUSTER_EXTRA_CONF=${CLUSTER_EXTRA_CONF/sched_interval=1/sched_interval=-1}
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  scontrol create reservation ReservationName=course StartTime=now+20minutes Duration=600 Nodes=n[3-4] Users=root
  wait_with 12 astro free -p p2 -n 2 -t 600 --time-min=5
  wait_with 12 astro free -p p2 -n 2 -t 5
  wait_with 20 bio free -p p2 -n 2 -t 5
  opens p2 44 64
}
