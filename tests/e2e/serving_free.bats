#!/usr/bin/env bats
# What is full keeps no organization out of what is free: its jobs that wait for a full partition, full nodes, nodes of a feature that are full, a full
# reservation, used up licenses and the like do not count before its jobs that could start. On a real slurmctld, against redecided.

load lib/e2e
load lib/serving
load lib/free

JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'

@test "a full partition" {
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  a_waits_for_both p2 "-p p2" "-p p1"
}

@test "full nodes that jobs name" {
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  a_waits_for_both main "" "--nodelist=n1"
}

# Slurm's main loop passes over the rest of a partition once a job of it finds no nodes; backfill does not.
@test "a feature whose nodes are full" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF=$CLUSTER_BACKFILL
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  a_waits_for_both main "--constraint=new" "--constraint=old"
}

@test "a full reservation" {
  two_full_nodes
  scontrol create reservation ReservationName=course StartTime=now Duration=600 Nodes=n[1-2] Users=daemon
  full_with -p p1 -N 2 --exclusive --reservation=course
  a_waits_for_both main "" "--reservation=course"
}

# The license is used by the job that fills n1 and n2.
@test "licenses that are used up" {
  two_full_nodes
  full_with -p p1 -N 2 --exclusive --licenses=tool:1
  a_waits_for_both main "" "--licenses=tool:1"
}

# One of those with a license starts, and is as good as one without.
@test "one of two licenses left" {
  LICENSES=2 JOBS_AS='{ print organization, cpus, (name == "full" && seen++ > 0 ? "n1,n2" : "n3,n4") }'
  two_full_nodes
  full_with -p p1 -N 2 --exclusive --licenses=tool:1
  a_waits_for_both main "" "--licenses=tool:1"
}

@test "nodes with GPUs that are full, in one partition with others" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"$'\n'"GresTypes=gpu"
  JOBS_AS='{ print organization, (name == "full" ? 4 : cpus), (name == "full" ? "n1,n2" : "n3,n4") }'
  cluster_prepare
  echo "NodeName=n[1-2] Name=gpu File=/dev/tty[0-3]" >"$CLUSTER_DIR/gres.conf"
  two_full_nodes '/^NodeName=n[12] /s/ RealMemory/ Gres=gpu:4 RealMemory/'
  full_with -p p1 -N 2 --gres=gpu:4 -n 32
  a_waits_for_both main "" "--gres=gpu:1"
}

@test "GPUs of one type that are full, beside others that are free" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"$'\n'"GresTypes=gpu"
  JOBS_AS='{ print organization, (organization == "arts" ? 32 : 4), (name == "full" ? "n1,n2" : "n3,n4") }'
  cluster_prepare
  printf '%s\n' "NodeName=n[1-2] Name=gpu Type=old File=/dev/tty[0-3]" "NodeName=n[3-4] Name=gpu Type=new File=/dev/tty[0-3]" >"$CLUSTER_DIR/gres.conf"
  two_full_nodes '/^NodeName=n[12] /s/ RealMemory/ Gres=gpu:old:4 RealMemory/' '/^NodeName=n[34] /s/ RealMemory/ Gres=gpu:new:4 RealMemory/'
  full_with -p p1 -N 2 --gres=gpu:old:4 -n 32
  wait_with 12 astro full -n 2 --gres=gpu:old:1
  wait_with 6 astro free -n 2 --gres=gpu:new:1
  wait_with 10 bio free -n 2 --gres=gpu:new:1
  opens main 28 64
}

# The partition that is down has free nodes.
@test "jobs for a full partition or one that is down" {
  MORE_CPUS=(16) OWNED=80 ARTS_NODES=", nodes: [n5]" FREE=n1=0,n2=0,n3=16,n4=16,n5=0
  two_full_nodes '$aPartitionName=p3 Nodes=n5 DefaultTime=60 State=DOWN'
  full_with -p p1 -N 2 --exclusive
  a_waits_for_both p2 "-p p2" "-p p1,p3"
}

@test "a full partition with one processor left: a wide job for it" {
  two_full_nodes
  full_with -p p1 -N 2 -n 31
  wait_with 1 astro full -p p1 -N 2 -n 32
  wait_for_free -p p2
  opens p2 33 63
}

# Half of each full node is free, and together they are as much as the whole node that each of the jobs wants.
@test "a full partition with half of each node left: jobs for whole nodes of it" {
  two_full_nodes
  full_with -p p1 -N 2 -n 16 --ntasks-per-node=8
  wait_with 1 astro full -p p1 -N 1 -n 16
  wait_with 1 astro full -p p1 -n 16 --exclusive
  wait_for_free -p p2
  opens p2 34 48
}

@test "nodes with much memory that are full, in one partition with others" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"
  JOBS_AS='{ print organization, (name == "full" ? 8 : cpus), (name == "full" ? "n1,n2" : "n3,n4") }'
  two_full_nodes 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_CPU_Memory/' '/^NodeName=n[12] /s/ RealMemory=1000/ RealMemory=8000/'
  full_with -p p1 -N 2 -n 32 --mem=8000
  a_waits_for_both main "--mem=10" "--mem=4000"
}

# Nodes come free that are reserved in twenty minutes: only jobs that end before may start there.
@test "long jobs before a reservation that is to come" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF=$CLUSTER_BACKFILL
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  scontrol create reservation ReservationName=course StartTime=now+20minutes Duration=600 Nodes=n[3-4] Users=daemon
  a_waits_for_both main "-t 5" "-t 600"
}

@test "an array of which only some tasks may run at once" {
  JOBS_AS='{ print organization, cpus, (name == "full" && seen++ > 1 ? "n1,n2" : "n3,n4") }'
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  submit astro --job-name=full -n 2 --array=1-30%2 "sleep 3000"
  wait_for_free
  opens main 62 64
}

@test "between others, an array of which only some tasks may run at once" {
  GUARANTEE=0 JOBS_AS='{ print organization, cpus, (name == "full" && seen++ > 3 ? "n1,n2" : "n3,n4") }'
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  submit astro --job-name=full -n 2 --array=1-30%4 "sleep 3000"
  wait_for_free
  opens main 62 64
}

@test "queues for more full nodes than the line reaches" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  wait_with 27 astro full -p p1 -n 2
  wait_with 20 astro full -n 2 -w n1
  wait_with 20 astro full -n 2 -w n2
  wait_with 27 astro full -n 2 -C old
  wait_for_free -p p2
  opens p2 126 64
}

# astro and bio lead by far and wait for n1 and n2 in seven ways, with more than the line reaches; chem and arts own n3 and n4, which come free, and
# only they wait for these: 8 for the guarantee of each, and the others by lead, of which chem has six more.
@test "queues of others for full nodes, longer than the line" {
  local name way JOBS_AS='{ print organization, cpus, (name == "full" || organization == "guests" ? "n1,n2" : "n3,n4") }'
  CLUSTER_NODE_CPUS=(16 16 16 16) CLUSTER_RANKING=""
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF=$CLUSTER_BACKFILL
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}" \
    "  - {name: chem, accounts: [chem], nodes: [n3]}" "  - {name: arts, accounts: [arts], nodes: [n4]}"
  sed -i -e '/^NodeName=n[12] /s/$/ Feature=old/' "$SLURM_CONF"
  printf '%s\n' "PartitionName=p1 Nodes=n[1-2] DefaultTime=60" "PartitionName=p2 Nodes=n[3-4] DefaultTime=60 State=DOWN" >>"$SLURM_CONF"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 64
  give_leads astro 50 bio 40 chem 2.9 arts 0
  long=$(submit guests -p p1 -N 2 --exclusive "sleep 3000")
  wait_until 30 booked "$long"
  for name in astro bio; do
    for way in "" "-w n1" "-w n2" "-C old" "-w n1 -C old" "-w n2 -C old" "-x n2"; do wait_with 5 "$name" full -p p1 -n 2 $way; done
  done
  for name in chem arts; do wait_with 20 "$name" free -p p2 -n 2; done
  opens p2 110 64
}
