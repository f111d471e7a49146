# The faults, how each is undone, and what is known about the state of things. To be sourced after tests/e2e/lib/cluster.bash and
# load.bash.
#
#   daemon, ctld        up, down (killed or stopped) or frozen (SIGSTOP)
#   dbd, mariadb        up or down, where there is slurmdbd
#   ledger_disk, spool_disk   free or full
#   ctld_may_end        yes or no: a slurmctld that is killed every few seconds would forget nearly all jobs, and nothing would be compared
# Injected faults are counted in `injected` by name and written, in order, to $CLUSTER_DIR/log/faults.

declare -A injected=()
daemon=up ctld=up dbd=up mariadb=up ledger_disk=free spool_disk=free ctld_may_end=yes

SPOOL_NAME=shapley.spool

# note TEXT...: a line of the fault log, with the time.
note() { printf '%(%T)T round %d: %s\n' -1 "$round" "$*" >>"$CLUSTER_DIR/log/faults"; }
count() { injected[$1]=$((${injected[$1]:-0} + 1)); note "$1${2:+ ($2)}"; }
print_injected() {
  local name
  for name in "${!injected[@]}"; do printf '  %-28s %5d\n' "$name" "${injected[$name]}"; done | sort
}

# ---- the disks -------------------------------------------------------------------------------------------------------

# mount_disks: StateSaveLocation, where the spool is, and the ledger's directory on small disks of their own.
mount_disks() {
  mount -t tmpfs -o size=24m,mode=755 shapley-faults-state "$CLUSTER_DIR/state" &&
    mkdir -p "$CLUSTER_DIR/ledger" && mount -t tmpfs -o size=192m,mode=755 shapley-faults-ledger "$CLUSTER_DIR/ledger"
}
fill() { dd if=/dev/zero of="$1/fill" bs=64k status=none 2>/dev/null; dd if=/dev/zero of="$1/fill-rest" bs=1 count=65536 status=none 2>/dev/null; }
empty() { rm -f "$1/fill" "$1/fill-rest"; }

# ---- what a killed slurmctld forgets -----------------------------------------------------------------------------------

# What happened after slurmctld's last save of its state is forgotten when it is killed, and what the plugin had seen but neither shapleyd
# nor the spool had on disk is lost with it. compare.bash judges Slurm's records by these spans, a line "SAVED BLIND UNTIL" each, in
# seconds: slurmctld forgot what began since SAVED, the plugin's observations since BLIND may be lost.

# losing COMMAND...: runs what may lose observations. With a writable spool a death of the plugin costs those of the last two seconds (one
# until they are spooled, one for the scan); without, all since the round's first fault. What a restored ledger lacks is known to slurmctld
# alone until the next snapshot, so its death in that round costs all since the copy.
losing() {
  local saved blind=$((EPOCHSECONDS - 2))
  saved=$(stat -c %Y "$CLUSTER_DIR/state/job_state" 2>/dev/null || echo 0)
  [ "$spool_disk" = free ] || blind=$first_fault_at
  [ -z "$copy_of" ] || [ "$copy_of" -ge "$blind" ] || blind=$copy_of
  "$@"
  printf '%d %d %d\n' "$saved" "$blind" "$EPOCHSECONDS" >>"$CLUSTER_DIR/lost"
}

# ---- faults; each fails, and does nothing, where it cannot be ------------------------------------------------------------

fault_kill_shapleyd() {
  [ "$daemon" != down ] || return 1
  count "SIGKILL of shapleyd"
  shapleyd_kill9
  daemon=down
}

# Again and again, while it starts or soon afterwards (`nightly`).
fault_kill_starting_shapleyd() {
  fault_kill_shapleyd || return 1
  for _ in {1..8}; do
    shapleyd_launch
    pick 300
    sleep "0.$(printf %03d "$picked")"
    daemon_runs shapleyd || return 0
    count "SIGKILL of shapleyd"
    shapleyd_kill9
    one_load
  done
}

kill_slurmctld() {
  losing ctld_kill9
  ctld=down
  ctld_may_end=no
}
fault_kill_slurmctld() {
  [ "$ctld" != down ] && [ "$ctld_may_end" = yes ] || return 1
  count "SIGKILL of slurmctld"
  kill_slurmctld
}
# Again and again, while it starts or soon afterwards: nothing that it knew is older than the state that it read (`nightly`).
fault_kill_starting_slurmctld() {
  fault_kill_slurmctld || return 1
  for _ in {1..4}; do
    ctld_launch
    pick 700
    sleep "0.$(printf %03d "$picked")"
    daemon_runs slurmctld || return 0
    count "SIGKILL of slurmctld"
    kill_slurmctld
  done
}
fault_kill_both() {
  [ "$ctld" != down ] && [ "$daemon" != down ] && [ "$ctld_may_end" = yes ] || return 1
  count "SIGKILL of both"
  pick 2
  if [ "$picked" -eq 0 ]; then shapleyd_kill9; kill_slurmctld; else kill_slurmctld; shapleyd_kill9; fi
  daemon=down
}

# In the middle of some adjustments.
fault_kill_adjusting_shapleyd() {
  [ "$daemon" = up ] || return 1
  local orders=()
  for _ in 1 2 3 4; do
    next_adjustment
    order_adjustment "$adjustments" &
    orders+=($!)
  done
  pick 1000
  sleep "0.$(printf %03d "$picked")"
  count "SIGKILL of shapleyd while it adjusts"
  shapleyd_kill9
  daemon=down
  wait "${orders[@]}"
}

# The ledger is lost, and a copy of some seconds ago takes its place: the adjustments since are lost, and Slurm's records make up for the runs.
fault_restore() {
  [ "$daemon" = up ] && [ "$ledger_disk" = free ] || return 1
  local copy=$CLUSTER_DIR/run/copy.db copied_at=$((EPOCHSECONDS - 2)) kept copied
  copied=$(timeout 10 shapleyctl backup --force "$copy" 2>>"$CLUSTER_DIR/log/load.out") || return 1
  kept=$(wc -l <"$CLUSTER_DIR/adjusted")
  load_burst; load_adjust; one_load
  pick 3
  sleep "$picked"
  count "ledger restored from a copy"
  shapleyd_kill9
  daemon=down
  copied=${copied#*verified: } copied=${copied%% *} copied=${copied//,/}
  [ "$(jq .sequence "$CLUSTER_LEDGER.acknowledged")" -le "$copied" ] || must_have_gap_since=${must_have_gap_since:-$copied_at}
  shapleyctl restore --ledger "$CLUSTER_LEDGER" "$copy" >>"$CLUSTER_DIR/log/load.out" 2>&1 || echo "the copy of round $round was not restored" >>"$CLUSTER_DIR/not_restored"
  rm -f "$CLUSTER_LEDGER".replaced-*
  sed -i "$((kept + 1)),\$d" "$CLUSTER_DIR/adjusted"
  printf '%d %d %d\n' 9999999999 "$copied_at" "$EPOCHSECONDS" >>"$CLUSTER_DIR/lost"
  copy_of=${copy_of:-$copied_at}
}
# The second from which on the ledger may lack what it once had, because a copy took its place in this round.
copy_of=""
# gap_is_known: what a restored copy lacks is a gap that the ledger tells of.
must_have_gap_since=""
gap_is_known() {
  [ -n "$must_have_gap_since" ] || return 0
  [ "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'observation_gap' AND json_extract(payload, '$.cause') = 'events_lost'
    AND json_extract(payload, '$.end') >= $must_have_gap_since")" -gt 0 ]
}

fault_freeze_shapleyd() {
  [ "$daemon" = up ] || return 1
  count "SIGSTOP of shapleyd"
  shapleyd_freeze
  daemon=frozen
}
fault_freeze_slurmctld() {
  [ "$ctld" = up ] || return 1
  count "SIGSTOP of slurmctld"
  daemon_signal slurmctld STOP
  ctld=frozen
}

fault_stop_shapleyd() {
  [ "$daemon" = up ] || return 1
  count "SIGTERM of shapleyd"
  shapleyd_stop
  daemon=down
}
fault_stop_slurmctld() {
  [ "$ctld" = up ] && [ "$ctld_may_end" = yes ] || return 1
  count "SIGTERM of slurmctld"
  losing ctld_stop
  ctld=down
  ctld_may_end=no
}

fault_fill_ledger() {
  [ "$ledger_disk" = free ] || return 1
  count "ledger's disk full"
  fill "$CLUSTER_DIR/ledger"
  ledger_disk=full
}
fault_fill_spool() {
  [ "$spool_disk" = free ] || return 1
  count "spool's disk full"
  fill "$CLUSTER_DIR/state"
  spool_disk=full
}

fault_reconfigure() {
  [ "$ctld" = up ] || return 1
  close_queue >>"$CLUSTER_DIR/log/load.out" 2>&1
  # Why: reconfigure in tests/e2e/lib/jobs.bash.
  if wait_until 5 launched 2>/dev/null && wait_until 5 nodes_stopped_while_nothing_is_sent 2>/dev/null; then
    count "scontrol reconfigure"
    scontrol reconfigure >>"$CLUSTER_DIR/log/load.out" 2>&1
    signal_nodes CONT
  fi
  open_queue >>"$CLUSTER_DIR/log/load.out" 2>&1 || true
}

# The proxy between plugin and shapleyd closes both sides within the next frame. Load makes sure that there is one.
fault_cut_socket() {
  [ "$ctld" = up ] && [ "$daemon" = up ] && [ "$ledger_disk" = free ] || return 1
  local cuts side
  cuts=$(wc -l <"$CLUSTER_DIR/log/proxy.out")
  pick 2; side=$([ "$picked" -eq 0 ] && echo feeder || echo daemon)
  pick 1000
  echo "$side $picked" >"$CLUSTER_DIR/run/cut"
  daemon_signal proxy USR1
  for _ in 1 2 3; do load_plain; done
  wait_until 20 cut_after "$cuts" || return 1
  count "socket cut within a frame" "$(tail -n 1 "$CLUSTER_DIR/log/proxy.out")"
}
cut_after() { test "$(wc -l <"$CLUSTER_DIR/log/proxy.out")" -gt "$1"; }

# Damage to the spool must hit something: shapleyd is away and jobs go on until the plugin has spooled.
spool_in_use() { test "$(stat -c %s "$CLUSTER_DIR/state/$SPOOL_NAME")" -gt 100; }
make_spool_used() {
  [ "$ctld" = up ] && [ "$spool_disk" = free ] || return 1
  [ "$daemon" != up ] || fault_kill_shapleyd
  for _ in 1 2 3; do load_plain; done
  wait_until 20 spool_in_use
}
# slurmctld is dead while it happens where it may end in this round, else it runs on with the file open (and forgets nothing itself).
damage_spool() {
  local saved=9999999999 spool=$CLUSTER_DIR/state/$SPOOL_NAME
  if [ "$ctld_may_end" = yes ]; then
    saved=$(stat -c %Y "$CLUSTER_DIR/state/job_state")
    fault_kill_slurmctld
  fi
  "$1" "$spool" "$(stat -c %s "$spool")"
  printf '%d %d %d\n' "$saved" "$first_fault_at" "$EPOCHSECONDS" >>"$CLUSTER_DIR/lost"
}
fault_truncate_spool() { make_spool_used && damage_spool truncate_spool; }
fault_corrupt_spool() { make_spool_used && damage_spool corrupt_spool; }
truncate_spool() {
  pick "$2"
  count "spool truncated" "$picked of $2 bytes left, slurmctld $ctld"
  truncate -s "$picked" "$1"
}
corrupt_spool() {
  local bytes offset
  pick 64; bytes=$((picked + 1))
  pick "$2"; offset=$picked
  count "spool corrupted" "$bytes bytes from offset $offset of $2, slurmctld $ctld"
  printf "$(printf '\\x%02x' $(for ((i = 0; i < bytes; ++i)); do pick 256; echo "$picked"; done))" |
    dd of="$1" bs=1 seek="$offset" conv=notrunc status=none
}

faults=(kill_shapleyd kill_slurmctld kill_both freeze_shapleyd freeze_slurmctld stop_shapleyd stop_slurmctld fill_ledger fill_spool
  reconfigure cut_socket cut_socket truncate_spool corrupt_spool kill_adjusting_shapleyd kill_adjusting_shapleyd kill_adjusting_shapleyd restore restore restore restore)

# slurmctld goes on without slurmdbd, and slurmdbd waits for its database; jobcomp has the records meanwhile.
fault_kill_slurmdbd() {
  [ "$dbd" = up ] || return 1
  count "SIGKILL of slurmdbd"
  daemon_kill9 slurmdbd
  dbd=down
}
fault_kill_mariadb() {
  [ "$mariadb" = up ] || return 1
  count "SIGKILL of MariaDB"
  daemon_kill9 mariadb
  mariadb=down
}

# one_fault: the first that is possible from a random place in the list on.
one_fault() {
  local i from
  : "${first_fault_at:=$((EPOCHSECONDS - 2))}"
  pick ${#faults[@]}; from=$picked
  for ((i = 0; i < ${#faults[@]}; ++i)); do
    "fault_${faults[(from + i) % ${#faults[@]}]}" && return
  done
}

# ---- undoing ---------------------------------------------------------------------------------------------------------

# A slurmctld that does not come up while its disk is full is started again when there is room, as systemd would; shapleyd waits for room itself.
raise_shapleyd() {
  local how=shapleyd_start
  [ "$ledger_disk" = free ] || how=shapleyd_launch
  case $daemon in
    frozen) shapleyd_thaw; note "SIGCONT of shapleyd" ;;
    down) note "start of shapleyd, ledger's disk $ledger_disk"; start_quietly shapleyd "$how" || return 1 ;;
  esac
  daemon=up
}
raise_slurmctld() {
  case $ctld in
    frozen) daemon_signal slurmctld CONT; note "SIGCONT of slurmctld" ;;
    down) note "start of slurmctld"; start_quietly slurmctld ctld_start || return 1 ;;
  esac
  ctld=up
}
start_quietly() {
  "$2" 2>>"$CLUSTER_DIR/log/starts.out" && return
  note "$1 did not start (ledger's disk $ledger_disk, spool's disk $spool_disk)"
  return 1
}
raise_ledger_disk() { [ "$ledger_disk" = free ] || { empty "$CLUSTER_DIR/ledger"; note "ledger's disk emptied"; }; ledger_disk=free; }
raise_spool_disk() { [ "$spool_disk" = free ] || { empty "$CLUSTER_DIR/state"; note "spool's disk emptied"; }; spool_disk=free; }

# slurmdbd answers when its database does.
raise_mariadb() {
  [ "$mariadb" = up ] || { note "start of MariaDB"; start_quietly MariaDB mariadb_start || return 1; }
  mariadb=up
}
raise_slurmdbd() {
  raise_mariadb || return 1
  [ "$dbd" = up ] || { note "start of slurmdbd"; start_quietly slurmdbd slurmdbd_start || return 1; }
  dbd=up
}

raisable=(shapleyd slurmctld ledger_disk spool_disk)

# raise_something: undoes one of the faults in effect, or none.
raise_something() { pick ${#raisable[@]}; "raise_${raisable[picked]}" || true; }

# raise_all: undoes all of them, in any order.
raise_all() {
  raise_slurmdbd || return 1
  local i from all=${#raisable[@]}
  pick "$all"; from=$picked
  for ((i = 0; i < all; ++i)); do "raise_${raisable[(from + i) % all]}" || true; done
  raise_slurmctld && raise_shapleyd
}
