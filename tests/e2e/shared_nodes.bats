#!/usr/bin/env bats
# Nodes that Slurm gives to several jobs at once, in turns, or only whole, and nodes that keep memory or CPUs for themselves: what is booked is never
# more than the node is worth, and CPUs equal Slurm's records.

load lib/e2e

# start_edited SED_EXPRESSION...: the usual cluster, its slurm.conf edited before it starts. Nodes of 16 CPUs and 1000 MiB.
start_edited() {
  local expression
  cluster_prepare
  three_organizations
  for expression in "$@"; do sed -i "$expression" "$SLURM_CONF"; done
  cluster_start
  wait_until 15 plugin_connected
}

# charged JOB: "PROCESSORS CPUS MEMORY" of its run by the ledger, before nodes are shared.
charged() {
  ledger_sql "SELECT n.processors / 1e6, n.cpus, n.memory FROM segment_nodes n WHERE n.job = $1 AND n.kind = 'run' ORDER BY n.node"
}
booked_as() { [ "$(charged "$1")" = "$2" ]; }
# used_is ORGANIZATION PROCESSORS: what its jobs hold now, by the books.
used_is() { shapleyctl status --json | jq -e --arg name "$1" '.organizations[] | select(.name == $name) | .used == '"$2"; }
agrees_with_records() {
  wait_drained 60
  remember_run_times
  expect_books_correct "$1"
  grep -q 'correct to the last unit' "$CLUSTER_DIR/audit.txt"
}

@test "an oversubscribed node: jobs that hold the same CPUs share what the node is worth" {
  start_edited '/^PartitionName=main /s/$/ OverSubscribe=FORCE:2/'
  first=$(submit astro -w n3 -n16 "$(until_told first)")
  wait_until 30 used_is astro 16
  second=$(submit chem -w n3 -n16 "$(until_told second)")
  wait_until 30 running "$second"
  running "$first"
  wait_until 30 used_is chem 8
  used_is astro 8
  wait_until 10 seconds_passed 1  # a run that ends in the second of its start is no run
  tell first
  wait_until 30 used_is chem 16
  tell second
  agrees_with_records 2
}

# alternated JOB JOB: the run of each has at least two parts; a new one begins after each suspension.
alternated() {
  [ "$(ledger_sql "SELECT MIN(parts) >= 2 AND COUNT(*) = 2 FROM (SELECT COUNT(*) AS parts FROM segments WHERE kind = 'run' AND retracted IS NULL
    AND job IN ($1, $2) GROUP BY job)")" = 1 ]
}
@test "gang scheduling: jobs that take turns on a node are booked one at a time" {
  start_edited '/^PartitionName=main /s/$/ OverSubscribe=FORCE:2/' '$a PreemptMode=GANG' '$a SchedulerTimeSlice=5'
  first=$(submit astro -w n3 -n16 "$(until_told end)")
  wait_until 30 under_way "$first"
  second=$(submit chem -w n3 -n16 "$(until_told end)")
  wait_until 90 alternated "$first" "$second"
  tell end
  agrees_with_records 2
  # No second belongs to both.
  [ "$(ledger_sql "SELECT COUNT(*) FROM segments a JOIN segments b ON a.begin < b.end AND b.begin < a.end WHERE a.job = $first AND b.job = $second
    AND a.kind = 'run' AND b.kind = 'run' AND a.retracted IS NULL AND b.retracted IS NULL")" = 0 ]
}

@test "select/linear: a job of one processor is charged the whole node that it gets" {
  start_edited 's,^SelectType=.*,SelectType=select/linear,' '/^SelectTypeParameters=/d'
  one=$(submit astro -w n3 -n1 "$(until_told end)")
  two=$(submit bio -w n1,n2 -n17 "$(until_told end)")
  wait_until 30 used_is astro 16
  wait_until 30 used_is bio 32
  wait_until 10 seconds_passed 1  # a run that ends in the second of its start is no run
  tell end
  agrees_with_records 2
}

@test "memory and cores that nodes keep for themselves: all the rest is the whole node" {
  start_edited 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_CPU_Memory/' '/^NodeName=n3 /s/ RealMemory=1000/ RealMemory=1000 MemSpecLimit=200/' \
    '/^NodeName=n4 /s/ RealMemory=1000/ RealMemory=1000 CoreSpecCount=2/'
  memory=$(submit astro -w n3 -n1 --mem=800 "$(until_told end)")
  wait_until 30 booked_as "$memory" "16.0 1 800"
  used_is astro 16
  cores=$(submit bio -w n4 -n14 --mem=10 "$(until_told end)")
  wait_until 30 used_is bio 14
  # No more fits on either.
  waits=$(submit chem -w n4 -n1 --mem=10 "$(until_told end)")
  wait_until 30 waiting_is chem 1
  pending "$waits"
  tell end
  # Slurm's records have CPUs, and memory is charged here: so that they agree is what audit says.
  wait_drained 60
  wait_until 20 audit_agrees || { cat "$CLUSTER_DIR/audit.txt"; false; }
  grep -q 'correct to the last unit' "$CLUSTER_DIR/audit.txt"
}

# fewer_owned: eight of the 32 processors of astro are gone, and bio holds none of them.
fewer_owned() { shapleyctl status --json | jq -e '[.organizations[] | select(.name == "astro").owned == 24, select(.name == "bio").used <= 8] | all'; }
# Each row of the utilization adds up to the unit, and no part is below zero.
utilization_adds_up() {
  shapleyctl history --utilization --csv | awk -F, '
    NR > 1 && $8 != "" && $9 == "processor_seconds" { part[$1, $3, $4] = $8; if ($8 < 0) exit 1; seen[$1 SUBSEP $3] = 1; ++rows }
    END { for (of in seen) if (part[of, "capacity"] != part[of, "own"] + part[of, "lent"] + part[of, "idle_wanted"] + part[of, "idle_unwanted"] + part[of, "down"]) exit 1
      exit !rows }'
}
@test "a node that gets fewer CPUs than the run on it holds: what is booked is what it is worth, and the run is as Slurm records it" {
  requeues_expected  # by a release whose reconfiguration is a restart of slurmctld, which aborts the job
  start_edited
  wide=$(submit bio -w n2 -n16 "$(until_told end)")
  small=$(submit chem -w n1 -n4 "$(until_told end)")
  wait_until 30 used_is bio 16
  wait_until 30 used_is chem 4
  wait_until 10 seconds_passed 1
  sed -i '/^NodeName=n2 /s/ CPUs=16/ CPUs=8/' "$SLURM_CONF"
  reconfigure || open_queue
  daemon_stop slurmd.n2
  slurmd_start n2
  wait_until 60 fewer_owned
  wait_until 10 seconds_passed 1
  utilization_adds_up
  tell end
  running "$wide" || scancel "$wide"
  agrees_with_records 2
  utilization_adds_up
  shapleyctl statement | grep -q '^Books:   exact: '
}
