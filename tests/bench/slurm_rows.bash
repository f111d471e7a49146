# The measurements of bench_slurm, one function a row. To be sourced after lib.bash; `results` is a directory for their numbers.

# shapleyd knows the plugin's snapshot when there is an event for each job at least.
books_have() { test "$(ledger_sql "SELECT COUNT(*) FROM events" 2>/dev/null || echo 0)" -ge "$1"; }

# ---- throughput --------------------------------------------------------------------------------------------------

# throughput_row PENDING: jobs a second, plugin / multifactor, and slurmctld's own processor time for them.
throughput_row() {
  local i name before
  : >"$results/burst" >"$results/processor"
  for ((i = 0; i <= bursts; ++i)); do
    for name in multifactor shapley; do
      use "$name"
      before=$(processor_time slurmctld)
      burst "$burst_jobs" >"$results/$name.ms" || return 1
      awk -v a="$before" -v b="$(processor_time slurmctld)" 'BEGIN { print b - a }' >"$results/$name.processor"
    done
    ((i)) || continue  # the first pair warms both up
    echo "$(cat "$results/multifactor.ms") $(cat "$results/shapley.ms")" >>"$results/burst"  # throughput: the times the other way round
    echo "$(cat "$results/shapley.processor") $(cat "$results/multifactor.processor")" >>"$results/processor"
  done
  row "job throughput, plugin / multifactor, $1 pending" ">= 0.98" \
    "$(spread_of "$results/burst"), $(awk -v n="$burst_jobs" '{ print n * 1000 / $2 }' "$results/burst" | median | cut -c 1-5) jobs/s"
  row "slurmctld's processor time for it, plugin / multifactor, $1 pending" "" "$(spread_of "$results/processor")"
}

# ---- latency -----------------------------------------------------------------------------------------------------

held_job() { submit astro --partition=parked --time=10 true; }
list_some() { squeue -h -p main; }
list_all() { squeue -h -o %i; }

# compare COMMAND COUNT: alternating calls on both clusters; pairs to results/pairs.
compare() {
  local i a b
  : >"$results/pairs"
  for ((i = 0; i < $2; ++i)); do
    use shapley && a=$(milliseconds "$1") && use multifactor && b=$(milliseconds "$1") && echo "$a $b" >>"$results/pairs"
  done
  use shapley
}
medians() { printf '%s ms / %s ms' "$(cut -d ' ' -f 1 "$results/pairs" | median)" "$(cut -d ' ' -f 2 "$results/pairs" | median)"; }
# ratio_of_medians: a pair's two calls meet different background work, so the ratio of the medians says more than single ratios.
ratio_of_medians() {
  awk -v a="$(cut -d ' ' -f 1 "$results/pairs" | median)" -v b="$(cut -d ' ' -f 2 "$results/pairs" | median)" 'BEGIN { printf "%.3f", a / b }'
}

latency_rows() {
  local state
  for state in healthy killed stopped; do
    use shapley
    case $state in
      killed) shapleyd_kill9 ;;
      stopped) shapleyd_start && wait_until 60 plugin_connected && shapleyd_freeze ;;
    esac
    compare held_job "$calls"
    row "sbatch, plugin / multifactor, $1 pending, shapleyd $state" "as without" "$(ratio_of_medians) ($(medians))"
    compare list_some $(((calls + 2) / 3))
    row "squeue of the empty partition, $1 pending, shapleyd $state" "as without" "$(ratio_of_medians) ($(medians))"
    compare list_all $(((calls + 5) / 6))
    row "squeue of all jobs, $1 pending, shapleyd $state" "as without" "$(ratio_of_medians) ($(medians))"
  done
  use shapley && shapleyd_thaw && wait_until 60 plugin_connected
}

# ---- locks -------------------------------------------------------------------------------------------------------

holds() { log_lines | sed -nE 's/.*held the job lock for (writing|splitting arrays) for ([0-9]+) us.*/\2/p'; }
scans() { log_lines | sed -nE 's/.*scanned the jobs in ([0-9]+) us.*/\1/p'; }
priorities_were_set() { [ "$(log_lines | grep -c 'priorities set')" -gt "$1" ]; }

# write_lock_row PENDING: all waiting jobs get another priority, again and again.
write_lock_row() {
  local i
  use shapley
  note_log
  for ((i = 0; i < flips; ++i)); do
    flip_accounts "$i" && wait_until 60 priorities_were_set "$i" || break
  done
  scontrol setdebug info
  row "job write lock, one hold, $1 pending" "<= 10 ms" "$(hold_summary holds)"
  row "read locks, one look, $1 pending" "" "$(hold_summary scans)"
}

# note_log: slurmctld logs everything from now on; log_lines begin here.
note_log() {
  scontrol setdebug debug2
  log_mark=$(stat -c %s "$CLUSTER_DIR/log/slurmctld.log")
}

# flip_accounts TIMES: the configuration gives each account to another organization than before, so that all waiting jobs get another
# priority, whatever the standings are.
flip_accounts() {
  local accounts=("bio chem astro" "chem astro bio" "astro bio chem")
  # shellcheck disable=SC2086
  accounts_change_hands ${accounts[$1 % 3]} && shapleyd_reload
}

accounts_change_hands() {
  cluster_config "organizations:" "  - name: astro" "    accounts: [$1]" "    nodes: [n1]" \
    "  - name: bio" "    accounts: [$2]" "    nodes: [n2]" "  - name: chem" "    accounts: [$3]"
}

hold_summary() {
  "$1" >"$results/us"
  awk -v max="$(sort -n "$results/us" | tail -n 1)" -v p99="$(quantile 0.99 <"$results/us")" -v p50="$(median <"$results/us")" \
    -v n="$(wc -l <"$results/us")" 'BEGIN { printf "max %.1f ms, p99 %.1f ms, median %.1f ms (%d)", max / 1000, p99 / 1000, p50 / 1000, n }'
}

# ---- shapleyctl and shapleyd ------------------------------------------------------------------------------------

status_row() {
  local i
  use shapley
  : >"$results/status"
  for ((i = 0; i < calls; ++i)); do milliseconds shapleyctl status >>"$results/status"; done
  row "shapleyctl status, $1 live jobs" "<= 50 ms" "median $(median <"$results/status") ms, p99 $(quantile 0.99 <"$results/status") ms ($calls)"
}

memory_row() {
  use shapley
  row "memory of shapleyd, $1 live jobs" "<= 100 MiB" \
    "$(awk '/^VmRSS/ { now = $2 } /^VmHWM/ { peak = $2 } END { printf "%.0f MiB, peak %.0f MiB", now / 1024, peak / 1024 }' "/proc/$(daemon_pid shapleyd)/status")"
}

# ---- freshness ---------------------------------------------------------------------------------------------------

# log_ms LINE: milliseconds since the epoch of a slurmctld log line.
log_ms() { date -u -d "$(sed -nE 's/^\[([^]]*)\].*/\1/p' <<<"$1")" +%s%3N; }

# The plugin logs at debug level each order that it gets. Organization oN leaves the front when its first job has used a second.
order_after() { grep -E "priority/shapley: ranks: " "$CLUSTER_DIR/log/slurmctld.log" | tail -n +"$(($1 + 1))" | grep -m 1 -vE "ranks: $2(,|$)"; }
rank_arrived() { [ -n "$(order_after "$1" "$2")" ]; }

# freshness_row: every organization is equal in the beginning, so the configuration's order holds; then the first one of it starts its
# first job. One second later, in whole seconds as the papers count, it has used something and stands behind all others. Measured
# from that instant (Slurm's start time + 1 s) and from the start in slurmctld's log to the new order in slurmctld's log.
freshness_row() {
  use shapley
  shapleyd_stop && park_nothing && wait_until 60 queue_of_parked_empty
  rm -f "$CLUSTER_LEDGER"*
  organizations_in_order
  scontrol setdebug debug
  shapleyd_start && wait_until 30 plugin_connected && measure_freshness || return 1
  scontrol setdebug info
  row "event in slurmctld -> rank in the plugin" "<= 1 s p99" "$(freshness_reached)"
}
organizations_in_order() {
  local i names=()
  for ((i = 1; i <= ranked + 1; ++i)); do names+=("o$i"); done  # the last one never starts a job and stays in front
  bench_organizations "${names[@]}"
}
measure_freshness() {
  local i id seen allocated start arrived
  wait_until 30 grep -q "priority/shapley: ranks: o1," "$CLUSTER_DIR/log/slurmctld.log" || return 1
  : >"$results/exact" >"$results/start"
  for ((i = 1; i <= ranked; ++i)); do
    seen=$(grep -c "priority/shapley: ranks: " "$CLUSTER_DIR/log/slurmctld.log")
    id=$(submit "o$i" --time=10 "sleep 120") || return 1
    wait_until 20 rank_arrived "$seen" "o$i" || return 1
    arrived=$(log_ms "$(order_after "$seen" "o$i")")
    allocated=$(log_ms "$(grep -m 1 "Allocate JobId=$id " "$CLUSTER_DIR/log/slurmctld.log")")
    start=$(date -u -d "$(job_field "$id" StartTime)" +%s%3N)
    echo $((arrived - start - 1000)) >>"$results/exact"
    echo $((arrived - allocated)) >>"$results/start"
  done
}
freshness_reached() {
  echo "from the instant that the order changes: median $(median <"$results/exact") ms, p99 $(quantile 0.99 <"$results/exact") ms; from the start itself: median $(median <"$results/start") ms, p99 $(quantile 0.99 <"$results/start") ms ($ranked)"
}
queue_of_parked_empty() { test -z "$(squeue -h -p parked)"; }
