# A private Slurm cluster on this machine: munged, slurmctld, some slurmds and shapleyd, on loopback, in one directory. To be sourced.
#
# Needs root (slurmd starts jobs of other users) and no systemd. Every cluster has its own munge key, socket, ports and state,
# so several can run at once. Accounts are plain `--account` strings unless there is a slurmdbd. Nothing here sleeps for an effect:
# wait_until polls a condition with a deadline. What happens elsewhere (in slurmctld, slurmd, shapleyd, a log) is never looked at just once.
#
# Settings, to be assigned before cluster_start:
CLUSTER_NODE_CPUS=(16 16 16 16)       # one node n1, n2, ... per entry
CLUSTER_PRIORITY=priority/shapley     # or priority/multifactor, or site_factor/shapley under the latter
CLUSTER_SCHEDULER=sched/builtin       # starts strictly by priority; sched/backfill lets small jobs pass
CLUSTER_SCAN_S=0.2                    # the plugin's longest time between two scans
CLUSTER_CRED_EXPIRE_S=120             # life of a job's credential, Slurm's default: a requeued job waits so long and a second
CLUSTER_EXTRA_CONF=""                 # further lines for slurm.conf
# One of them, for sched/backfill: it looks every second.
CLUSTER_BACKFILL=SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
CLUSTER_CTLD_UNDER=()                 # a program, with its options, that runs slurmctld: valgrind
CLUSTER_DATABASE=""                   # yes: slurmdbd on a MariaDB of its own (slurmdbd.bash), no; empty: as this release needs it
#
# Set by cluster_start: CLUSTER_DIR (with run/ log/ state/), SLURM_CONF and SHAPLEY_SOCKET (exported), CLUSTER_LEDGER, CLUSTER_JOBCOMP, SLURM_RELEASE.

cluster_lib=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
: "${SHAPLEY_BUILD:=$(readlink -f "$cluster_lib/../../..")/build/release}"  # whose bin/ and lib/slurm/ are tried
# The Slurm that is used, daemons, commands and plugins: below SHAPLEY_SLURM_PREFIX, or that of the slurmctld in PATH.
export PATH="$SHAPLEY_BUILD/bin:${SHAPLEY_SLURM_PREFIX:+$SHAPLEY_SLURM_PREFIX/sbin:$SHAPLEY_SLURM_PREFIX/bin:}$PATH:/usr/sbin:/sbin"
export TZ=UTC  # jobcomp/filetxt writes local times without a zone

say() { printf '%s\n' "$*" >&2; }
source "$cluster_lib/slurmdbd.bash"

# A deadline is given in seconds of an idle machine. A busy one is many times slower, and a deadline that is not reached costs nothing.
: "${SHAPLEY_TIMEOUT_FACTOR:=6}"

# wait_until SECONDS COMMAND...: true as soon as COMMAND succeeds; false, with a line that says what did not happen, at the deadline.
wait_until() {
  local seconds=$(($1 * SHAPLEY_TIMEOUT_FACTOR)) began=${EPOCHREALTIME/./} before now pauses=(0.05 0.05 0.1 0.1 0.1 0.2) pause=0
  before=$began
  shift
  until "$@" >/dev/null 2>&1; do
    now=${EPOCHREALTIME/./}
    if ((now - began > seconds * 1000000)); then
      say "not true within $seconds s: $*"
      return 1
    fi
    _announce_waiting $((now - before)) "$@"
    before=$now
    sleep "${pauses[pause]}"
    ((pause + 1 == ${#pauses[@]})) || pause=$((pause + 1))
  done
}

# _announce_waiting MICROSECONDS COMMAND...: a bats test that has waited for a minute in sum says for what it waits, at once and past bats,
# which shows a test's own output only at its end. So a test that ctest or a person kills has said where it hung.
_unannounced_waiting=0
_announce_waiting() {
  _unannounced_waiting=$((_unannounced_waiting + $1))
  shift
  ((_unannounced_waiting < 60000000)) || [ -z "${BATS_TEST_DESCRIPTION:-}" ] || {
    printf '# waited for a minute, now until: %s (%s)\n' "$*" "$BATS_TEST_DESCRIPTION" >&3
    _unannounced_waiting=0
  }
}

# lines_of FILE: how many it has; what is added later comes after them. says_since LINES FILE PATTERN: so does a line after the first LINES. What a log said
# before is then not taken for what it says now.
lines_of() { { wc -l <"$1"; } 2>/dev/null || echo 0; }
says_since() { tail -n "+$(($1 + 1))" "$2" | grep -q -- "$3"; }

# ---- one daemon ----------------------------------------------------------------------------------------------------

# daemon_start NAME COMMAND...: returns when it has a pid. Its output goes to log/NAME.out.
daemon_start() {
  local name=$1
  shift
  rm -f "$CLUSTER_DIR/run/$name.ended"
  # A supervisor must not hold the caller's descriptors: bats and pipes wait until all copies are closed.
  # What is sent to the caller's process group is not for the daemons: a harness that ends by it stops them in order.
  setpriv --pdeathsig TERM setsid "$cluster_lib/supervise" "$CLUSTER_DIR/run" "$name" "$CLUSTER_DIR/log/$name.out" "$@" \
    </dev/null >>"$CLUSTER_DIR/log/supervise.out" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
  disown
  wait_until 10 test -e "$CLUSTER_DIR/run/$name.pid" -o -e "$CLUSTER_DIR/run/$name.ended"
}

# daemon_ready SECONDS NAME COMMAND...: waits until COMMAND succeeds; gives up at once when the daemon ends.
daemon_ready() {
  local seconds=$1 name=$2
  shift 2
  _ready_or_gone() { daemon_gone "$name" || "$@"; }
  wait_until "$seconds" _ready_or_gone "$@" && daemon_runs "$name" && return
  say "$name does not answer; the end of its output:"
  tail -n 5 "$CLUSTER_DIR/log/$name.out" >&2
  return 1
}

daemon_pid() { cat "$CLUSTER_DIR/run/$1.pid" 2>/dev/null; }
daemon_runs() { test -e "$CLUSTER_DIR/run/$1.pid"; }
daemon_gone() { test ! -e "$CLUSTER_DIR/run/$1.pid"; }
daemon_status() { cat "$CLUSTER_DIR/run/$1.ended"; }

# daemon_signal NAME SIGNAL
daemon_signal() { kill "-$2" "$(daemon_pid "$1")"; }

# daemon_stop NAME: SIGTERM, and SIGKILL for one that does not end in time (which is then said and is a failure).
daemon_stop() {
  daemon_runs "$1" || return 0
  daemon_signal "$1" TERM
  daemon_signal "$1" CONT 2>/dev/null || true  # it may have ended already
  wait_until 15 daemon_gone "$1" && return 0
  say "$1 did not end after SIGTERM: killed"
  daemon_signal "$1" KILL
  wait_until 5 daemon_gone "$1"
  return 1
}

daemon_kill9() {
  daemon_signal "$1" KILL
  wait_until 5 daemon_gone "$1"
}

# ---- slurmctld, shapleyd ---------------------------------------------------------------------------------------------

ctld_answers() { scontrol ping | grep -q 'is UP'; }
# sinfo names a node once for each of its partitions.
nodes_ready() { test "$(sinfo -h -N -o '%N %T' | sort -u | grep -cE ' (idle|mixed|allocated)$')" -eq "${#CLUSTER_NODE_CPUS[@]}"; }

ctld_launch() { daemon_start slurmctld "${CLUSTER_CTLD_UNDER[@]}" slurmctld -D -f "$SLURM_CONF"; }
ctld_start() { ctld_launch && daemon_ready 30 slurmctld ctld_answers; }
ctld_stop() { daemon_stop slurmctld; }
ctld_kill9() { daemon_kill9 slurmctld; }
ctld_restart() { ctld_stop && ctld_start; }
slurmd_start() { daemon_start "slurmd.$1" slurmd -D -f "$SLURM_CONF" -N "$1"; }  # NODE

# shapleyd_launch: without waiting until it answers, which may take until there is room on its disk.
shapleyd_launch() { daemon_start shapleyd shapleyd --config "$CLUSTER_DIR/shapleyd.yaml"; }
shapleyd_start() { shapleyd_launch && daemon_ready 15 shapleyd shapleyd_answers; }
shapleyd_answers() { shapleyctl status --json; }
shapleyd_stop() { daemon_stop shapleyd; }
shapleyd_kill9() { daemon_kill9 shapleyd; }
shapleyd_restart() { shapleyd_stop && shapleyd_start; }
shapleyd_freeze() { daemon_signal shapleyd STOP; }
shapleyd_thaw() { daemon_signal shapleyd CONT; }
shapleyd_reload() { daemon_signal shapleyd HUP; }

# ---- the cluster -----------------------------------------------------------------------------------------------------

# cluster_start [DIR]: a running cluster, all nodes idle. With priority/shapley the caller has written DIR/shapleyd.yaml
# (cluster_config) unless it starts shapleyd later. A failure leaves the logs and says where.
cluster_start() {
  cluster_prepare "${1:-}" || return 1
  _start_guard && _cluster_start_daemons && return
  say "the cluster did not start; its logs: $CLUSTER_DIR/log"
  touch "$CLUSTER_DIR/log/said"
  return 1
}

# cluster_prepare [DIR]: directory, ports and slurm.conf; nothing runs yet.
cluster_prepare() {
  [ -z "${CLUSTER_DIR:-}" ] || return 0
  _cluster_requirements || return 1
  [ -n "${1:-}" ] || _remove_old_directories
  CLUSTER_DIR=${1:-$(mktemp -d "${TMPDIR:-/tmp}/shapley-cluster.XXXXXX")}
  mkdir -p "$CLUSTER_DIR"/{run,log,state,spool}
  CLUSTER_DIR=$(readlink -f "$CLUSTER_DIR")
  SLURM_RELEASE=$(slurmctld -V 2>/dev/null | sed 's/.* //')
  [ -n "$CLUSTER_DATABASE" ] || CLUSTER_DATABASE=$(_release_needs_database && echo yes || echo no)
  chmod 755 "$CLUSTER_DIR" "$CLUSTER_DIR"/{run,log,state,spool}  # jobs of other users pass through; munged wants no group write
  export SLURM_CONF=$CLUSTER_DIR/slurm.conf SHAPLEY_SOCKET=$CLUSTER_DIR/run/shapleyd.sock
  CLUSTER_LEDGER=$CLUSTER_DIR/ledger.db
  CLUSTER_JOBCOMP=$CLUSTER_DIR/log/jobcomp.txt
  export SHAPLEY_TEST_CLUSTER=$CLUSTER_DIR  # whose a process is: every process that this shell starts, and their jobs
  _claim_ports || return 1
  (umask 077 && head -c 1024 /dev/urandom >"$CLUSTER_DIR/run/munge.key")
  _write_slurm_conf
}

# cluster_config TEXT...: shapleyd.yaml = ledger, socket and feeder of this cluster, then the given text (organizations, ...).
# Ranks are those of the published rule unless a test sets CLUSTER_RANKING otherwise.
CLUSTER_RANKING="rule: published
guarantee: 0"
cluster_config() {
  {
    printf 'ledger: %s\nsocket: %s\nslurm_user: root\n%s\n' "$CLUSTER_LEDGER" "$SHAPLEY_SOCKET" "$CLUSTER_RANKING"
    printf '%s\n' "$@"
  } >"$CLUSTER_DIR/shapleyd.yaml"
}

# cluster_stop: ends jobs and daemons, in any state of either, and leaves the directory. Fails if a daemon had to be killed.
cluster_stop() {
  [ -n "${CLUSTER_DIR:-}" ] || return 0
  local failed=0 name i
  if daemon_runs slurmctld && timeout 30 scontrol ping 2>/dev/null | grep -q 'is UP'; then
    timeout 30 squeue -h -o %A 2>/dev/null | sort -u | timeout 30 xargs -r scancel 2>/dev/null
    wait_until 5 queue_empty 2>/dev/null
  fi
  for name in slurmctld shapleyd; do daemon_stop "$name" || failed=1; done
  for i in "${!CLUSTER_NODE_CPUS[@]}"; do daemon_stop "slurmd.n$((i + 1))" || failed=1; done
  for name in slurmdbd mariadb munged; do daemon_stop "$name" || failed=1; done
  # slurmstepds and job processes outlive their slurmd.
  # Without the mark from its first moment: of a harness that is gone (`run cluster_start` in a test) the watching guard may be killing what has it.
  (unset SHAPLEY_TEST_CLUSTER && exec "$cluster_lib/guard" kill "$CLUSTER_DIR") || failed=1
  rm -f "$CLUSTER_DIR/run/guarded"
  rm -f "${CLUSTER_CLAIM:-}"
  return "$failed"
}

# cluster_discard: after cluster_stop, the directory too.
cluster_discard() {
  [ -n "${CLUSTER_DIR:-}" ] && rm -rf "$CLUSTER_DIR"
  unset CLUSTER_DIR
}

_cluster_requirements() {
  local program missing=()
  [ "$(id -u)" -eq 0 ] || { say "a private Slurm cluster needs root: slurmd starts jobs of other users"; return 1; }
  [ -z "${SHAPLEY_SLURM_PREFIX:-}" ] || [ -x "$SHAPLEY_SLURM_PREFIX/sbin/slurmctld" ] || {
    say "SHAPLEY_SLURM_PREFIX=$SHAPLEY_SLURM_PREFIX has no sbin/slurmctld; it must be the folder below which Slurm is installed"
    return 1
  }
  for program in munged munge slurmctld slurmd sbatch scontrol squeue sinfo setpriv; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "missing programs: ${missing[*]}; install the packages of packaging/debian-packages.txt"
  return 1
}

_cluster_start_daemons() {
  local i run=$CLUSTER_DIR/run
  daemon_start munged munged -F --force --key-file="$run/munge.key" --socket="$run/munge.socket" \
    --pid-file="$run/munged-own.pid" --log-file="$CLUSTER_DIR/log/munged.log" --seed-file="$run/munge.seed" || return 1
  wait_until 10 munge -n -S "$run/munge.socket" || return 1
  if [ "$CLUSTER_DATABASE" = yes ]; then database_start || return 1; fi
  if [ -e "$CLUSTER_DIR/shapleyd.yaml" ]; then shapleyd_start || return 1; fi
  ctld_start || return 1
  for i in "${!CLUSTER_NODE_CPUS[@]}"; do
    slurmd_start "n$((i + 1))" || return 1
  done
  wait_until 30 nodes_ready
}

# A harness that is killed stops nothing; the guard, in a session of its own, then ends what it started (lib/guard).
_start_guard() {
  touch "$CLUSTER_DIR/run/guarded"
  setsid --fork "$cluster_lib/guard" watch "$BASHPID" "$CLUSTER_DIR" \
    </dev/null >/dev/null 2>"$CLUSTER_DIR/log/guard.out" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
}

# Failed and killed tests keep their directories; the oldest go when there are more than eight that no harness uses. Another test may be removing
# the same ones, and one may hold a small disk that is still mounted: no test fails for what cannot be removed.
_remove_old_directories() {
  local dir
  for dir in "${TMPDIR:-/tmp}"/shapley-cluster.??????; do
    [ -d "$dir" ] && ! pgrep -f -- "guard watch [0-9]+ $dir\$" >/dev/null && echo "$dir"
  done | xargs -r ls -dt 2>/dev/null | tail -n +9 | xargs -r rm -rf 2>/dev/null || true
}

# A block of 32 ports below the ephemeral range. The claim file keeps a second cluster that starts at the same moment off
# the same block. It names the cluster's directory, not a pid, which another process may have later; one whose directory is gone is
# taken over, and the guard of a killed harness removes it.
_claim_ports() {
  local claims=${TMPDIR:-/tmp}/shapley-test-ports base owner used lock status
  mkdir -p "$claims"
  # One at a time: two that both found the same dead owner would take each other's claim for his.
  exec {lock}>"$claims/lock" && flock "$lock" || return 1
  _claim_ports_alone
  status=$?
  exec {lock}>&-
  return "$status"
}
_claim_ports_alone() {
  used=" $(awk 'FNR > 1 { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null | tr '\n' ' ')"
  for _ in {1..200}; do
    base=$((20000 + RANDOM % 390 * 32))
    CLUSTER_CLAIM=$claims/$base
    owner=$(cat "$CLUSTER_CLAIM" 2>/dev/null)
    [ -n "$owner" ] && ! [ -d "$owner" ] && rm -f "$CLUSTER_CLAIM"
    (set -o noclobber; echo "$CLUSTER_DIR/run" >"$CLUSTER_CLAIM") 2>/dev/null || continue
    _ports_free "$base" "$used" && CLUSTER_PORT=$base && return
    rm -f "$CLUSTER_CLAIM"
  done
  say "no free block of ports below 32768"
  return 1
}

# _ports_free BASE USED: none of the 32 ports is in USED, hexadecimal numbers between blanks.
_ports_free() {
  local port
  for ((port = $1; port < $1 + 32; ++port)); do
    [[ $2 != *" $(printf '%04X' "$port") "* ]] || return 1
  done
}

# ---- what differs between releases and installations of Slurm ---------------------------------------------------------

# slurm_is_at_least RELEASE: by the slurmctld that is used.
slurm_is_at_least() { printf '%s\n' "$1" "$SLURM_RELEASE" | sort -VC; }

# Without slurmdbd, every job of these releases is InvalidAccount or their slurmctld dies when it stops: docs/operating/versions.md.
_release_needs_database() { [[ $SLURM_RELEASE == @(23.11|24.05|25.05).* ]]; }

# The stock plugins: Debian's folder, or those that Slurm's own `make install` uses.
_slurm_plugin_dir() {
  local so prefix=${SHAPLEY_SLURM_PREFIX:-}
  [ -n "$prefix" ] || prefix=$(dirname "$(dirname "$(readlink -f "$(command -v slurmctld)")")")
  for so in "$prefix"/lib/*/slurm-wlm "$prefix"/lib64/slurm "$prefix"/lib/slurm "$prefix"/lib/*/slurm; do
    [ -e "$so/priority_multifactor.so" ] && echo "$so" && return
  done
  say "no priority_multifactor.so in a plugin folder below $prefix/lib or $prefix/lib64: this Slurm's plugins are not installed"
  return 1
}

# 26.05 logs backfill's starts only then.
_release_lines() { ! slurm_is_at_least 26.05 || echo "DebugFlags=HetJob"; }

# Since 24.05 slurmd asks for cgroups, which a private cluster without systemd does not have.
_write_cgroup_conf() { ! slurm_is_at_least 24.05 || echo "CgroupPlugin=disabled" >"$CLUSTER_DIR/cgroup.conf"; }

_write_slurm_conf() {
  local i nodes="" accounting=AccountingStorageType=accounting_storage/none
  [ "$CLUSTER_DATABASE" = no ] || accounting=$(database_conf)
  local plugin_dir priority_lines=PriorityType=$CLUSTER_PRIORITY options=socket=$SHAPLEY_SOCKET,interval=$CLUSTER_SCAN_S
  case $CLUSTER_PRIORITY in
    priority/shapley) priority_lines+=$'\n'PriorityParameters=$options ;;
    site_factor/shapley)
      priority_lines=PriorityType=priority/multifactor$'\n'PrioritySiteFactorPlugin=$CLUSTER_PRIORITY
      priority_lines+=$'\n'PrioritySiteFactorParameters=$options
      ;;
  esac
  # slurmctld refuses a PluginDir that does not exist, and plain multifactor needs none of ours.
  if [ "$CLUSTER_PRIORITY" != priority/multifactor ]; then
    plugin_dir=$(_slurm_plugin_dir) || return 1
    priority_lines+=$'\n'PluginDir=$SHAPLEY_BUILD/lib/slurm:$plugin_dir
  fi
  _write_cgroup_conf
  for i in "${!CLUSTER_NODE_CPUS[@]}"; do
    nodes+="NodeName=n$((i + 1)) NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((CLUSTER_PORT + 1 + i))"
    nodes+=" CPUs=${CLUSTER_NODE_CPUS[i]} RealMemory=1000 State=UNKNOWN"$'\n'
  done
  cat >"$SLURM_CONF" <<CONF
ClusterName=shapleytest
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$CLUSTER_PORT
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$CLUSTER_DIR/run/munge.socket,cred_expire=$CLUSTER_CRED_EXPIRE_S
CredType=cred/munge
StateSaveLocation=$CLUSTER_DIR/state
SlurmdSpoolDir=$CLUSTER_DIR/spool/%n
SlurmctldPidFile=$CLUSTER_DIR/run/slurmctld-own.pid
SlurmdPidFile=$CLUSTER_DIR/run/slurmd-own.%n.pid
SlurmctldLogFile=$CLUSTER_DIR/log/slurmctld.log
SlurmdLogFile=$CLUSTER_DIR/log/slurmd.%n.log
SlurmctldDebug=debug
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
$accounting
JobCompType=jobcomp/filetxt
JobCompLoc=$CLUSTER_JOBCOMP
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=$CLUSTER_SCHEDULER
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,default_queue_depth=10000,max_sched_time=14
SlurmdParameters=config_overrides
ReturnToService=2
# A busy machine is slow: no job is given up because its start or its end takes long, and none that has ended is forgotten before it is looked at.
MinJobAge=3600
BatchStartTimeout=600
UnkillableStepTimeout=600
KillWait=1
PropagateResourceLimits=NONE
# Commands are more patient than Slurm's ten seconds: a busy machine is slow.
MessageTimeout=30
# Any epilog makes slurmctld wait for slurmd's own message instead of its one-second tick: jobs end five times faster.
Epilog=/bin/true
$(_release_lines)
$priority_lines
$CLUSTER_EXTRA_CONF
${nodes}PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 State=UP
CONF
}
