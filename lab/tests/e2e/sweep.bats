#!/usr/bin/env bats
# shapley-sim on a cluster: `compare --submit`, a sweep as a Slurm job array, and an experiment in parts (lab/experiment.sbatch).

load ../../../tests/e2e/lib/e2e

setup() { CLUSTER_PRIORITY=priority/multifactor CLUSTER_NODE_CPUS=(4); }

array_waits() { [ "$(squeue -h -r -t PENDING -o %F_%K | wc -l)" -eq 3 ]; }
one_task_less() { [ "$(squeue -h -r -t PENDING -o %F_%K | wc -l)" -eq 2 ]; }

@test "the array gives the bytes of a local run, and a lost task is run again" {
  cluster_start
  sweep=(compare --trace excerpt --processors 12 --organizations 4 --length 8000 --windows 7 --policies rand,fcfs --json)
  shapley-sim "${sweep[@]}" >"$CLUSTER_DIR/local"

  close_queue
  shapley-sim "${sweep[@]}" --submit "$CLUSTER_DIR/sweep" --block 3 >"$CLUSTER_DIR/merged" 2>"$CLUSTER_DIR/said" 3>&- &
  command=$!
  wait_until 30 array_waits
  scancel "$(squeue -h -r -o %F_%K | grep '_1$')"
  wait_until 10 one_task_less
  open_queue
  wait "$command"
  cmp "$CLUSTER_DIR/merged" "$CLUSTER_DIR/local"
  grep -q 'blocks of windows to do: 3' "$CLUSTER_DIR/said"
  grep -q 'blocks of windows to do: 1' "$CLUSTER_DIR/said"

  # Everything is there: the same command submits nothing.
  shapley-sim "${sweep[@]}" --submit "$CLUSTER_DIR/sweep" --block 3 >"$CLUSTER_DIR/merged" 2>"$CLUSTER_DIR/said"
  cmp "$CLUSTER_DIR/merged" "$CLUSTER_DIR/local"
  [ ! -s "$CLUSTER_DIR/said" ]

  # A damaged result counts as none.
  head -c 300 "$CLUSTER_DIR/sweep/block-2.json" >"$CLUSTER_DIR/part"
  mv "$CLUSTER_DIR/part" "$CLUSTER_DIR/sweep/block-2.json"
  shapley-sim "${sweep[@]}" --submit "$CLUSTER_DIR/sweep" --block 3 >"$CLUSTER_DIR/merged" 2>"$CLUSTER_DIR/said"
  cmp "$CLUSTER_DIR/merged" "$CLUSTER_DIR/local"
  grep -q 'blocks of windows to do: 1' "$CLUSTER_DIR/said"

  # A folder belongs to one sweep.
  run shapley-sim "${sweep[@]}" --seed 2 --submit "$CLUSTER_DIR/sweep" --block 3
  [ "$status" -eq 1 ]
  [[ $output == *"holds the results of another sweep"* ]]
}

# As its users run it: the example of etc, in a folder that all nodes see, with shapley-sim in PATH.
@test "an experiment as a job array gives the bytes of a whole run, and a task that was cancelled is run again by its number" {
  cluster_start
  mkdir -m 777 "$CLUSTER_DIR/parts" && cd "$CLUSTER_DIR/parts"
  experiment=(table1 --trace excerpt --windows 7 --length 8000 --organizations 3)
  shapley-sim experiment "${experiment[@]}" >"$CLUSTER_DIR/whole"

  array() { sbatch --wait --array="$1" "$BATS_TEST_DIRNAME/../../experiment.sbatch" 3 "${experiment[@]}" 3>&-; }
  close_queue
  array 1-3 &
  waiting=$!
  wait_until 30 array_waits
  scancel "$(squeue -h -r -o %F_%K | grep '_2$')"
  wait_until 10 one_task_less
  open_queue
  wait "$waiting"
  run shapley-sim merge part-*.json
  [ "$status" -eq 1 ]
  [[ $output == *"parts 2 of 3 are missing"*"--array=2"* ]]

  array 2
  shapley-sim merge part-*.json >"$CLUSTER_DIR/merged"
  cmp "$CLUSTER_DIR/merged" "$CLUSTER_DIR/whole"
}
