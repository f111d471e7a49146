# What the benchmarks share: rows of the table, numbers, and two private clusters side by side. To be sourced.

bench_dir=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$bench_dir/../e2e/lib/cluster.bash" && source "$bench_dir/../e2e/lib/jobs.bash" && source "$bench_dir/../e2e/lib/books.bash"

# row WHAT GOAL REACHED: one row of the table, at once on the screen and in BENCH_ROWS.
row() {
  printf '%-62s %-14s %s\n' "$1" "$2" "$3"
  [ -z "${BENCH_ROWS:-}" ] || printf '| %s | %s | %s |\n' "$1" "$2" "$3" >>"$BENCH_ROWS"
}

# quantile Q: of the numbers on standard input, one a line; the smallest that at least Q of them do not exceed.
quantile() {
  sort -g | awk -v q="$1" '{ v[NR] = $1 } END { if (!NR) exit 1; i = int(q * NR); if (i < q * NR) ++i; print v[i < 1 ? 1 : i] }'
}
median() { quantile 0.5; }

# milliseconds COMMAND...: how long it took, its output thrown away; fails as the command does.
milliseconds() {
  local begin=${EPOCHREALTIME/./} status=0
  "$@" >/dev/null 2>&1 || status=$?
  awk -v us="$((${EPOCHREALTIME/./} - begin))" 'BEGIN { printf "%.2f\n", us / 1000 }'
  return "$status"
}

# spread_of FILE: "MEDIAN (MIN to MAX)" of the ratios in a file of pairs "A B".
spread_of() {
  local ratios
  ratios=$(awk '$2 > 0 { printf "%.3f\n", $1 / $2 }' "$1" | sort -g)
  printf '%s (%s to %s, %s pairs)' "$(median <<<"$ratios")" "$(head -n 1 <<<"$ratios")" "$(tail -n 1 <<<"$ratios")" "$(wc -l <<<"$ratios")"
}

# ---- two clusters ------------------------------------------------------------------------------------------------

bench_names=(CLUSTER_DIR CLUSTER_PRIORITY CLUSTER_PORT CLUSTER_CLAIM CLUSTER_LEDGER CLUSTER_JOBCOMP SLURM_CONF SHAPLEY_SOCKET SHAPLEY_TEST_CLUSTER)
declare -A bench_saved=()
bench_current=

# use NAME: the cluster that the functions of tests/e2e/lib work on from now on.
use() {
  local name
  [ "$1" != "$bench_current" ] || return 0
  for name in "${bench_names[@]}"; do
    [ -z "$bench_current" ] || bench_saved[$bench_current.$name]=${!name:-}
    export "$name=${bench_saved[$1.$name]:-}"
  done
  bench_current=$1
}

# start_side NAME PRIORITY: a cluster of this name with this plugin, and with shapleyd if it is ours.
# What is parked waits in a partition that is down, so that it weighs on every look and every listing without ever starting.
start_side() {
  use "$1"
  CLUSTER_NODE_CPUS=(16 16)
  CLUSTER_SCAN_S=1
  CLUSTER_EXTRA_CONF=$'MaxJobCount=300000\nMaxArraySize=100001\nPartitionName=parked Nodes=ALL State=DOWN'
  CLUSTER_DIR='' CLUSTER_PRIORITY=$2
  cluster_prepare || return 1
  [ "$2" = priority/multifactor ] || bench_organizations astro bio chem
  # The log level and the scheduler's pace that a large site would use; the benchmarks ask for more log where they read it.
  sed -i -e 's/^SlurmctldDebug=.*/SlurmctldDebug=info/' -e 's/^SlurmdLogFile.*/&\nSlurmdDebug=error/' \
    -e 's/^SchedulerParameters=.*/SchedulerParameters=batch_sched_delay=1,sched_interval=5,sched_min_interval=100000,default_queue_depth=1000/' \
    "$SLURM_CONF"
  cluster_start || return 1
  [ "$2" = priority/multifactor ] || wait_until 20 plugin_connected
}

# start_pair: cluster `shapley` with the plugin and shapleyd, cluster `multifactor` with the stock plugin; else the same.
start_pair() { start_side multifactor priority/multifactor && start_side shapley priority/shapley; }

# bench_organizations NAME...: accounts of the same names, in this order.
bench_organizations() {
  local name lines=("organizations:")
  for name in "$@"; do
    lines+=("  - name: $name" "    accounts: [$name]")
    [ "$name" != astro ] || lines+=("    nodes: [n1]")
    [ "$name" != bio ] || lines+=("    nodes: [n2]")
  done
  cluster_config "${lines[@]}"
}

stop_pair() { stop_sides shapley multifactor; }
stop_sides() {
  local name
  for name in "$@"; do
    use "$name"
    # Their jobs die with the cluster; cancelling 100,000 of them one by one would take longer than all measurements.
    [ -z "$CLUSTER_DIR" ] || { park_nothing; cluster_stop; cluster_discard; }
  done
}

# ---- load --------------------------------------------------------------------------------------------------------

# park COUNT: that many separate waiting records of three accounts. An array is one record until its tasks are changed one by
# one, which one request does for all of them.
park() {
  local account id each=$(($1 / 3))
  for account in astro bio chem; do
    id=$(submit "$account" --partition=parked --array="0-$each" --time=10 true) || return 1
    scontrol update JobId="${id}_[0-$((each - 1))]" Nice=1 || return 1
  done
}
park_nothing() { timeout 120 scancel --partition=parked 2>/dev/null; }

# burst COUNT: milliseconds that so many jobs of one processor take from the moment they may start to the last one's end.
burst() {
  local account
  close_queue
  for account in astro bio chem; do
    submit "$account" --array="1-$(($1 / 3))" --time=1 true >/dev/null || return 1
  done
  open_queue
  milliseconds wait_until 300 burst_over
}
burst_over() { test -z "$(squeue -h -p main)"; }

# processor_time NAME: seconds of processor time that this daemon has used.
processor_time() {
  awk -v tick="$(getconf CLK_TCK)" '{ printf "%.2f\n", ($14 + $15) / tick }' "/proc/$(daemon_pid "$1")/stat"
}

# ---- slurmctld's log ---------------------------------------------------------------------------------------------

# log_lines: what slurmctld logged since log_mark, a number of bytes. The plugin says there how many priorities it wrote (debug) and how long it held the
# job lock (debug2).
log_lines() { tail -c "+$log_mark" "$CLUSTER_DIR/log/slurmctld.log"; }
written() { log_lines | sed -nE 's/.*: ([0-9]+) priorities set.*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }'; }
started() { log_lines | grep -c 'sched: Allocate JobId='; }
written_a_start() { awk -v writes="$(written)" -v starts="$(started)" 'BEGIN { print starts ? writes / starts : "none started" }'; }
