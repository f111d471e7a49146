#!/usr/bin/env bats
# Circumstances in which what cannot start now still counts as if it could, so that an organization is kept out of what is free. On a real slurmctld, against
# redecided. All of these fail.

load lib/e2e
load lib/serving
load lib/free

JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'

@test "a partition with MaxCPUsPerNode that is full, on nodes that are not" {
  P1="DefaultTime=60 MaxCPUsPerNode=8"
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8
  a_waits_for_p1_and_p2 48
}

@test "nodes whose cores are reserved" {
  two_full_nodes
  scontrol create reservation ReservationName=course StartTime=now Duration=600 Nodes=n[1-2] CoreCnt=16,16 Users=root
  a_waits_for_p1_and_p2 32
}

@test "nodes of which another user has half, in a partition of exclusive users" {
  P1="DefaultTime=60 ExclusiveUser=YES"
  two_full_nodes
  long=$(sbatch --parsable --uid="$(id -u bin)" --gid="$(id -g bin)" --account=arts --chdir=/ --output=/dev/null -p p1 -N 2 -n 16 --ntasks-per-node=8 --wrap="sleep 3000")
  wait_until 30 booked "$long"
  a_waits_for_p1_and_p2 48
}
