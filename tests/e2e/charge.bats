#!/usr/bin/env bats
# What a run is charged where memory and GPUs are allocated: the largest part of the node that it blocks; and that nodes are shared where the
# parts sum to more than there is.

load lib/e2e

# Nodes of 16 CPUs and 1000 MiB; n4 has four GPUs. AccountingStorageTRES does not track them.
setup() {
  CLUSTER_EXTRA_CONF="SelectTypeParameters=CR_CPU_Memory"$'\n'"GresTypes=gpu"
  cluster_prepare
  three_organizations
  sed -i '/^NodeName=n4 /s/ RealMemory/ Gres=gpu:4 RealMemory/' "$SLURM_CONF"
  echo "NodeName=n4 Name=gpu File=/dev/tty[0-3]" >"$CLUSTER_DIR/gres.conf"
  cluster_start
  wait_until 15 plugin_connected
}

# charged JOB: "PROCESSORS CPUS MEMORY GRES" of its run, as the ledger has them.
charged() {
  ledger_sql "SELECT n.processors / 1e6, n.cpus, n.memory, n.gres FROM segment_nodes n WHERE n.job = $1 AND n.kind = 'run'" | tr '|' ' '
}
booked_as() { [ "$(charged "$1")" = "$2" ]; }
# used ORGANIZATION: processors that its jobs hold now, by the books.
used() { shapleyctl status --json | jq --arg name "$1" '.organizations[] | select(.name == $name) | .used'; }
used_is() { [ "$(used "$1" | awk -v want="$2" '{ print ($1 - want < 1e-5 && want - $1 < 1e-5) }')" = 1 ]; }

@test "CPUs, memory, GPUs or the whole node: what blocks most is charged, and CPUs are still Slurm's" {
  memory=$(submit astro -w n1 -n1 --mem=500 "$(until_told end)")
  all_memory=$(submit bio -w n2 -n1 --mem=1000 "$(until_told end)")
  cpus=$(submit astro -w n3 -n4 --mem=10 "$(until_told end)")
  gpus=$(submit chem -w n4 -n2 --mem=10 --gres=gpu:3 "$(until_told end)")
  wait_until 30 booked_as "$memory" "8.0 1 500 "
  wait_until 30 booked_as "$all_memory" "16.0 1 1000 "
  wait_until 30 booked_as "$cpus" "4.0 4 10 "
  wait_until 30 booked_as "$gpus" "12.0 2 10 gres/gpu=3"
  used_is astro 12 && used_is bio 16 && used_is chem 12

  # The books are the same after both daemons were away, and a job that wants the node to itself is charged the node.
  between_launches ctld_restart
  open_queue
  shapleyd_restart
  wait_until 15 plugin_connected
  wait_until 30 all_looked_at
  booked_as "$gpus" "12.0 2 10 gres/gpu=3" && used_is chem 12
  tell end
  whole=$(submit chem -w n4 -n1 --mem=10 --exclusive "$(until_told whole)")
  wait_until 30 booked_as "$whole" "16.0 16 10 gres/gpu=4"  # Slurm gives it the GPUs, too
  tell whole
  wait_drained 60
  wait_until 20 audit_agrees || { cat "$CLUSTER_DIR/audit.txt"; false; }
  grep -q 'correct to the last unit' "$CLUSTER_DIR/audit.txt"
}

@test "two jobs that block more than the node together share what it is worth" {
  cpus=$(submit astro -w n1 -n14 --mem=100 "$(until_told cpus)")
  memory=$(submit bio -w n1 -n1 --mem=900 "$(until_told memory)")
  wait_until 30 booked_as "$cpus" "14.0 14 100 "
  wait_until 30 booked_as "$memory" "14.4 1 900 "
  # 16 processors as 14 to 14.4.
  wait_until 10 used_is astro 7.887324
  wait_until 10 used_is bio 8.112676
  tell memory
  wait_until 30 used_is astro 14
  tell cpus
  wait_drained 60
  wait_until 20 audit_agrees || { cat "$CLUSTER_DIR/audit.txt"; false; }
}

@test "a job that waits asks for what it would be charged" {
  fill=$(submit astro -w n1 -n16 --mem=1000 "$(until_told fill)")
  wait_until 30 booked_as "$fill" "16.0 16 1000 "
  waiting=$(submit bio -w n1 -n1 --mem=250 "true")
  wait_until 30 waiting_is bio 4
  scancel "$waiting"
  wait_until 30 waiting_is bio 0
  tell fill
  wait_drained 60
}
