# A private cluster with two slurmctlds, each with a shapleyd beside it, on "hosts" ctl1 (the primary) and ctl2 of this machine (on_host): names and
# mounts of their own, addresses 127.0.0.1 and 127.0.0.2. StateSaveLocation, slurmds, munge, jobcomp's file and slurmdbd are there once.
# To be sourced after cluster.bash, jobs.bash and books.bash.
#
# Of host N: CLUSTER_DIR/hostN has books, a small disk with ledger.db, and shapleyd.sock, shapleyd.yaml and slurmctld.log.

CLUSTER_TIMEOUT_S=10  # SlurmctldTimeout; with less a busy machine would be taken for a dead one
# In Slurm 22.05 a backup that takes over may have no thread that schedules: run_backup() starts it while shutdown_time is still set, and it ends
# if it looks at that before it is reset. The thread of sched/backfill is there always.
CLUSTER_SCHEDULER=sched/backfill

# two_hosts_start [DIR]: the primary on host 1, the backup in wait on host 2; all nodes idle, the plugin connected.
two_hosts_start() {
  _two_hosts_prepare "${1:-}" && _start_guard && _two_hosts_start_daemons && return
  say "the cluster did not start; its logs: $CLUSTER_DIR"
  touch "$CLUSTER_DIR/log/said"
  return 1
}

_two_hosts_prepare() {
  local host
  CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL
$CLUSTER_EXTRA_CONF
SlurmctldTimeout=$CLUSTER_TIMEOUT_S
CommunicationParameters=NoCtldInAddrAny"
  cluster_prepare "$@" || return 1
  mkdir -p "$CLUSTER_DIR"/host{,1,2} && chmod 755 "$CLUSTER_DIR"/host{,1,2} || return 1
  printf '%s\n' "127.0.0.1 localhost ctl1" "127.0.0.2 ctl2" >"$CLUSTER_DIR/hosts"
  for host in 1 2; do
    mkdir "$CLUSTER_DIR/host$host/books" && mount -t tmpfs -o size=48m,mode=700 shapley-test "$CLUSTER_DIR/host$host/books" || return 1
  done
  # Outside, a host's folder has its number.
  sed -i -e "s|^SlurmctldHost=.*|SlurmctldHost=ctl1(127.0.0.1)\nSlurmctldHost=ctl2(127.0.0.2)|" \
    -e "s|socket=$SHAPLEY_SOCKET|socket=$CLUSTER_DIR/host/shapleyd.sock|" \
    -e "s|^SlurmctldPidFile=.*|SlurmctldPidFile=$CLUSTER_DIR/host/slurmctld-own.pid|" \
    -e "s|^SlurmctldLogFile=.*|SlurmctldLogFile=$CLUSTER_DIR/host/slurmctld.log|" "$SLURM_CONF"
  for host in 1 2; do
    use_host "$host"
    three_organizations "$(_peer_lines "$host")"
    mv "$CLUSTER_DIR/shapleyd.yaml" "$CLUSTER_DIR/host$host/shapleyd.yaml"
  done
}

# TWO_HOSTS_OVER=tcp, set before two_hosts_start: the shapleyds reach each other by TCP; =link: by a link that can be cut; else each other's socket
# as a file.
_peer_lines() {
  if [ "${TWO_HOSTS_OVER:-}" = tcp ]; then
    echo "listen: ctl$1:$((CLUSTER_PORT + 29))"
    echo "peer: ctl$((3 - $1)):$((CLUSTER_PORT + 29))"
    echo "munge_socket: $CLUSTER_DIR/run/munge.socket"
  elif [ "${TWO_HOSTS_OVER:-}" = link ]; then
    echo "peer: $CLUSTER_DIR/run/link$((3 - $1)).sock"
  else
    echo "peer: $CLUSTER_DIR/host$((3 - $1))/shapleyd.sock"
  fi
}

# link_up, link_cut: what both shapleyds reach each other by.
link_up() {
  local host
  for host in 1 2; do
    daemon_start "link$host" "$SHAPLEY_BUILD/bin/cutting_proxy" "$CLUSTER_DIR/run/link$host.sock" "$CLUSTER_DIR/host$host/shapleyd.sock" "$CLUSTER_DIR/run/orders" || return 1
  done
}
link_cut() { daemon_kill9 link1 && daemon_kill9 link2; }

_two_hosts_start_daemons() {
  local i run=$CLUSTER_DIR/run
  daemon_start munged munged -F --force --key-file="$run/munge.key" --socket="$run/munge.socket" \
    --pid-file="$run/munged-own.pid" --log-file="$CLUSTER_DIR/log/munged.log" --seed-file="$run/munge.seed" || return 1
  wait_until 10 munge -n -S "$run/munge.socket" || return 1
  if [ "$CLUSTER_DATABASE" = yes ]; then database_start || return 1; fi
  [ "${TWO_HOSTS_OVER:-}" != link ] || link_up || return 1
  shapleyd_start_on 1 && shapleyd_start_on 2 && ctld_start_on 1 && wait_until 30 primary_is 1 && ctld_start_on 2 || return 1
  for i in "${!CLUSTER_NODE_CPUS[@]}"; do
    slurmd_start "n$((i + 1))" || return 1
  done
  wait_until 30 nodes_ready && wait_until 30 waits_as_backup
}

# use_host N: the ledger and socket that books.bash and shapleyctl mean.
use_host() {
  CLUSTER_LEDGER=$CLUSTER_DIR/host$1/books/ledger.db
  export SHAPLEY_SOCKET=$CLUSTER_DIR/host$1/shapleyd.sock
}
on_host() { "$cluster_lib/on_host" "$1" "$CLUSTER_DIR" "${@:2}"; }

# TWO_HOSTS_CLOCK_FILE: of host 2's shapleyd, by so many seconds its wall clock is wrong (tests/faults/stepped_clock.c).
shapleyd_start_on() {
  local under=()
  [ "$1" != 2 ] || [ -z "${TWO_HOSTS_CLOCK_FILE:-}" ] ||
    under=(env "LD_PRELOAD=$SHAPLEY_BUILD/tests/faults/libstepped_clock.so" "SHAPLEY_STEPPED_CLOCK=$TWO_HOSTS_CLOCK_FILE")
  daemon_start "shapleyd$1" "$cluster_lib/on_host" "$1" "$CLUSTER_DIR" "${under[@]}" shapleyd --config "$CLUSTER_DIR/host$1/shapleyd.yaml" &&
    daemon_ready 15 "shapleyd$1" pair_of "$1" .role
}
ctld_start_on() { daemon_start "slurmctld$1" "$cluster_lib/on_host" "$1" "$CLUSTER_DIR" slurmctld -D -f "$SLURM_CONF"; }

# pair_of N FILTER: what shapleyd of host N says of the pair.
pair_of() { shapleyctl --socket "$CLUSTER_DIR/host$1/shapleyd.sock" status --json | jq -er ".daemon.controller | $2"; }
pair_is() { test "$(pair_of "$1" "$2")" = "$3"; }
# primary_is N: slurmctld is primary there, and its plugin feeds the shapleyd beside it.
primary_is() {
  pair_is "$1" .role active && shapleyctl --socket "$CLUSTER_DIR/host$1/shapleyd.sock" status --json | jq -e .plugin.connected && ctld_answers
}
# standby_is N: the shapleyd there follows and has all that the other one has.
standby_is() { pair_is "$1" '"\(.role) \(.state) \(.behind) \(.fault)"' "standby follows 0 null"; }
# A backup that was just started looks for five seconds, and takes nothing over.
waits_as_backup() { test "$(_standbys)" -gt "${_standbys_before:-0}"; }
_standbys() { grep -c "slurmctld running in background mode" "$CLUSTER_DIR/host2/slurmctld.log"; }
# backup_restart: after it has given back. In Slurm 22.05 a backup that takes over a second time in its life has no scheduling thread but backfill's, and
# when it gives back again it hangs or dies: main_sched_fini() joins that thread and keeps its id.
backup_restart() {
  daemon_stop slurmctld2 || return 1
  _standbys_before=$(_standbys)
  ctld_start_on 2 && wait_until 30 waits_as_backup
}

# same_chain: both ledgers end with the same event.
same_chain() { test "$(_chain_end 1)" = "$(_chain_end 2)"; }
_chain_end() {
  sqlite3 -readonly -cmd ".timeout 20000" "file:$CLUSTER_DIR/host$1/books/ledger.db?mode=ro" "SELECT seq, hex(hash) FROM event_rows ORDER BY seq DESC LIMIT 1"
}

# disk_fill N, disk_clear N: the disk of host N's books.
disk_fill() { cat /dev/zero >"$CLUSTER_DIR/host$1/books/filler" 2>/dev/null || true; }
disk_clear() { rm -f "$CLUSTER_DIR/host$1/books/filler"; }

# second_primary_start: on host 2 a slurmctld that knows of no other one and has a state of its own, as if each could neither reach the other nor see
# its heartbeat. Both are primary.
second_primary_start() {
  cp -r "$CLUSTER_DIR/state" "$CLUSTER_DIR/state2"
  sed -e '/^SlurmctldHost=ctl1/d' -e "s|^StateSaveLocation=.*|StateSaveLocation=$CLUSTER_DIR/state2|; s|^SlurmctldPort=.*|SlurmctldPort=$((CLUSTER_PORT + 27))|" "$SLURM_CONF" >"$CLUSTER_DIR/second.conf"
  daemon_start slurmctld2 "$cluster_lib/on_host" 2 "$CLUSTER_DIR" slurmctld -D -f "$CLUSTER_DIR/second.conf"
}

# two_hosts_stop: before cluster_stop, which knows nothing of two. What is on the disks stays.
two_hosts_stop() {
  local name failed=0 books
  for name in slurmctld2 slurmctld1 shapleyd1 shapleyd2 link1 link2; do daemon_stop "$name" || failed=1; done
  for books in "$CLUSTER_DIR"/host[12]/books; do
    mountpoint -q "$books" || continue
    rm -f "$books/filler"
    cp -a "$books" "$books.kept" && umount "$books" && rmdir "$books" && mv "$books.kept" "$books" || failed=1
  done
  return "$failed"
}
