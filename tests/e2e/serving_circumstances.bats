#!/usr/bin/env bats
# The serving order in circumstances: what is full in other ways than by partition, nodes and features. On a real slurmctld, against redecided.

load lib/e2e
load lib/serving

# n1 and n2 are full with one long job of arts; astro owns n1 and n3, bio n2 and n4, arts nothing. Of 64 processors 32 come free, astro's and bio's own
# n3 and n4: 8 for the guarantee of each, and the others by lead, of which bio has six more.
two_full_nodes() {
  local expression
  CLUSTER_NODE_CPUS=(16 16 16 16 "${MORE_CPUS[@]}") CLUSTER_RANKING="guarantee: ${GUARANTEE:-1/4}"
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n3]}" "  - {name: bio, accounts: [bio], nodes: [n2, n4]}" "  - {name: arts, accounts: [arts]${ARTS_NODES:-}}"
  for expression in "$@"; do sed -i "$expression" "$SLURM_CONF"; done
  echo "PartitionName=p1 Nodes=n[1-2] DefaultTime=60" >>"$SLURM_CONF"
  echo "PartitionName=p2 Nodes=n[3-4] DefaultTime=60" >>"$SLURM_CONF"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is "${OWNED:-64}"
  give_leads astro 0 bio 0.6 arts 0
  for partition in main p2; do scontrol update PartitionName="$partition" State=DOWN; done
}
# full_with SBATCH_OPTION...: the long job of arts.
full_with() {
  long=$(submit arts "$@" "sleep 3000")
  wait_until 30 booked "$long"
}
# wait_with COUNT NAME JOB_NAME SBATCH_OPTION...
wait_with() {
  local i count=$1 name=$2 job_name=$3
  for ((i = 0; i < count; ++i)); do submit "$name" --job-name="$job_name" "${@:4}" "sleep 3000" >/dev/null; done
}
# opens PARTITION JOBS HELD: what waits has places; then the partition opens.
opens() {
  wait_until 60 looked_at_places "$2"
  note_what_should_start "${FREE:-n1=0,n2=0,n3=16,n4=16}"
  scontrol update PartitionName="$1" State=UP
  wait_until 60 holds_at_least "$3"
  expect_rule 2
}

@test "a full partition with one processor left: a wide job for it" {
  two_full_nodes
  full_with -p p1 -N 2 -n 31
  wait_with 1 astro full -p p1 -N 2 -n 32
  wait_with 12 astro free -p p2 -n 2
  wait_with 20 bio free -p p2 -n 2
  JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'
  opens p2 33 63
}

@test "nodes with GPUs that are full, in one partition with others" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"$'\n'"GresTypes=gpu"
  cluster_prepare
  echo "NodeName=n[1-2] Name=gpu File=/dev/tty[0-3]" >"$CLUSTER_DIR/gres.conf"
  two_full_nodes '/^NodeName=n[12] /s/ RealMemory/ Gres=gpu:4 RealMemory/'
  full_with -p p1 -N 2 --gres=gpu:4 -n 32
  wait_with 12 astro full -n 2 --gres=gpu:1
  wait_with 12 astro free -n 2
  wait_with 20 bio free -n 2
  JOBS_AS='{ print organization, (name == "full" ? 4 : cpus), (name == "full" ? "n1,n2" : "n3,n4") }'
  opens main 44 64
}

@test "one of two licenses left" {
  CLUSTER_EXTRA_CONF+=$'\n'"Licenses=tool:2"
  two_full_nodes
  full_with -p p1 -N 2 --exclusive --licenses=tool:1
  wait_with 12 astro full -n 2 --licenses=tool:1
  wait_with 12 astro free -n 2
  wait_with 20 bio free -n 2
  # One of those with a license starts, and is as good as one without.
  JOBS_AS='{ print organization, cpus, (name == "full" && seen++ > 0 ? "n1,n2" : "n3,n4") }'
  opens main 44 64
}

@test "an array of which only some tasks may run at once" {
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  submit astro --job-name=full -n 2 --array=1-30%2 "sleep 3000"
  wait_with 12 astro free -n 2
  wait_with 20 bio free -n 2
  JOBS_AS='{ print organization, cpus, (name == "full" && seen++ > 1 ? "n1,n2" : "n3,n4") }'
  opens main 62 64
}

@test "queues for more full nodes than the line reaches" {
  CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL"
  two_full_nodes '/^NodeName=n[12] /s/$/ Feature=old/'
  full_with -p p1 -N 2 --exclusive
  wait_with 27 astro full -p p1 -n 2
  wait_with 20 astro full -n 2 -w n1
  wait_with 20 astro full -n 2 -w n2
  wait_with 27 astro full -n 2 -C old
  wait_with 12 astro free -p p2 -n 2
  wait_with 20 bio free -p p2 -n 2
  JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'
  opens p2 126 64
}

@test "between others, an array of which only some tasks may run at once" {
  GUARANTEE=0
  two_full_nodes
  full_with -p p1 -N 2 --exclusive
  submit astro --job-name=full -n 2 --array=1-30%4 "sleep 3000"
  wait_with 12 astro free -n 2
  wait_with 20 bio free -n 2
  wait_until 60 looked_at_places 62
  JOBS_AS='{ print organization, cpus, (name == "full" && seen++ > 3 ? "n1,n2" : "n3,n4") }'
  opens main 62 64
}

# A partition that is down has free nodes, which its jobs cannot use; they may use a full one, too.
@test "jobs for a full partition or one that is down" {
  MORE_CPUS=(16) OWNED=80 ARTS_NODES=", nodes: [n5]"
  two_full_nodes '$aPartitionName=p3 Nodes=n5 DefaultTime=60 State=DOWN'
  full_with -p p1 -N 2 --exclusive
  wait_with 12 astro full -p p1,p3 -n 2
  wait_with 12 astro free -p p2 -n 2
  wait_with 20 bio free -p p2 -n 2
  JOBS_AS='{ print organization, cpus, (name == "full" ? "n1,n2" : "n3,n4") }'
  FREE=n1=0,n2=0,n3=16,n4=16,n5=0 opens p2 44 64
}

# astro and bio lead by far and wait for n1 and n2 in seven ways, with more than the line reaches; chem and arts own n3 and n4, which come free, and
# only they wait for these: 8 for the guarantee of each, and the others by lead, of which chem has six more.
@test "queues of others for full nodes, longer than the line" {
  local name i way
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
  give_leads astro 50 bio 40 chem 0.6 arts 0
  long=$(submit guests -p p1 -N 2 --exclusive "sleep 3000")
  wait_until 30 booked "$long"
  for name in astro bio; do
    for way in "" "-w n1" "-w n2" "-C old" "-w n1 -C old" "-w n2 -C old" "-x n2"; do wait_with 5 "$name" full -p p1 -n 2 $way; done
  done
  for name in chem arts; do wait_with 20 "$name" free -p p2 -n 2; done
  JOBS_AS='{ print organization, cpus, (name == "full" || organization == "guests" ? "n1,n2" : "n3,n4") }'
  opens p2 110 64
}
