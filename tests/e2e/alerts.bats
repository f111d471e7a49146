#!/usr/bin/env bats
# Alerts of trouble that lasts: what was missed, a clock, a disk, a controller's peer. Each alert fires, in a real Prometheus, by its true cause, and
# those whose cause can be taken away are quiet again. See monitoring.bats for the others; README.md for those that promtool alone tests.

load lib/e2e
load lib/monitoring
load lib/trial

teardown() {
  monitoring_stop || true
  daemon_stop trial || true
  daemon_stop standby || true
  end_cluster
}

@test "slurmctld runs without the plugin while a job is requeued: the gap and the lost run fire" {
  start_with
  monitoring_start
  wait_until 20 quiet
  wait_until 20 metric_is shapley_lost_runs_total 0
  lose_a_run
  wait_until 30 firing ShapleyWarning observation_gap
  wait_until 30 firing ShapleyWarning lost_runs
  scancel "$lost"
}

@test "a slurmctld that hangs, a trial beside it, and one that lost its state: each fires" {
  start_with
  monitoring_start
  wait_until 20 metric_is shapley_state_losses_total 0
  wait_until 20 metric_is 'shapley_health{rule="refused_plugin"}' 0
  wait_until 20 quiet_about plugin_silent
  lost=$(submit bio -n8 -N1 "sleep 3000")
  wait_until 20 booked "$lost"
  daemon_signal slurmctld STOP
  wait_until 60 firing ShapleyWarning plugin_silent
  daemon_signal slurmctld CONT
  wait_until 30 quiet_about plugin_silent

  trial_conf shapleytest
  trial_start
  wait_until 60 firing ShapleyWarning refused_plugin
  daemon_stop trial

  ctld_stop
  find "$CLUSTER_DIR/state" -mindepth 1 -delete
  ctld_start
  wait_until 60 firing ShapleyWarning state_loss
}

# submit_tasks N: N waiting jobs, each with a name of a thousand letters; what is done to all tasks but one makes them records of their own.
submit_tasks() {
  local array
  array=$(submit astro --hold --array="0-$1" --job-name="$(printf 'x%.0s' {1..1000})" true)
  scontrol update jobid="${array}_[1-$1]" nice=7
}

@test "more observations than the spool may hold while shapleyd is down: that they were dropped fires" {
  cluster_prepare
  sed -i 's|^PriorityParameters=.*|&,spool_max=1|' "$SLURM_CONF"
  three_organizations
  cluster_start
  wait_until 15 plugin_connected
  monitoring_start
  wait_until 20 metric_is shapley_plugin_dropped_backlogs_total 0
  shapleyd_kill9
  submit_tasks 990
  wait_until 30 grep -q "spool: .* unacknowledged messages exceed the bound .* dropped" "$CLUSTER_DIR/log/slurmctld.log"
  shapleyd_start
  wait_until 30 plugin_connected
  wait_until 30 firing ShapleyWarning spool
}

# set_to clock SECONDS, set_to disk MILLISECONDS: what tests/faults' libraries, preloaded to a daemon, do from now on.
set_to() { echo "$2" >"$CLUSTER_DIR/run/$1.new" && mv "$CLUSTER_DIR/run/$1.new" "$CLUSTER_DIR/run/$1"; }

@test "slurmctld observes under a wrong clock while shapleyd is down: that its messages are dropped fires" {
  cluster_prepare
  set_to clock 0
  CLUSTER_CTLD_UNDER=(env "LD_PRELOAD=$SHAPLEY_BUILD/tests/faults/libstepped_clock.so" "SHAPLEY_STEPPED_CLOCK=$CLUSTER_DIR/run/clock")
  three_organizations
  cluster_start
  wait_until 15 plugin_connected
  monitoring_start
  wait_until 20 quiet
  wait_until 20 metric_is shapley_dropped_observations_total 0
  shapleyd_kill9
  set_to clock 7200
  submit astro --hold --job-name=under_a_wrong_clock true
  wait_until 30 grep -q under_a_wrong_clock "$CLUSTER_DIR/state/shapley.spool"
  set_to clock 0
  shapleyd_start
  wait_until 30 firing ShapleyWarning dropped_messages
}

# Something is to be committed meanwhile.
observed_and_fired() {
  submit astro --hold true >/dev/null
  wait_until 5 has_fired "$@"
}

observed_and_quiet() {
  submit astro --hold true >/dev/null
  wait_until 5 quiet_about "$1"
}

# A correction goes back behind what the books remember; they are rebuilt, and the disk is in no hurry to take the result. The exporter is answered
# between two commits. When that is within a scrape's second depends on the machine, so each try has another day and another disk.
corrected=0
corrected_and_fired() {
  corrected=$((corrected + 1))
  set_to disk $((500 - 100 * (corrected % 4)))
  shapleyctl --timeout 60 adjust --nodes n4 --owners bio --since "2020-01-01" --until "2020-02-0$((corrected % 9 + 1))" --reason "as it was" --yes
  has_fired ShapleyWarning rebuild || return 1
  has_fired ShapleyCritical ranks
}

@test "a clock that steps, a slow disk, an old backup and an old audit: each fires until it is over" {
  cluster_prepare
  set_to clock 0
  set_to disk 0
  shapleyd_launch() {
    daemon_start shapleyd env LD_PRELOAD="$SHAPLEY_BUILD/tests/faults/libstepped_clock.so:$SHAPLEY_BUILD/tests/faults/libslow_disk.so" \
      SHAPLEY_STEPPED_CLOCK="$CLUSTER_DIR/run/clock" SHAPLEY_SLOW_DISK="$CLUSTER_DIR/run/disk" shapleyd --config "$CLUSTER_DIR/shapleyd.yaml"
  }
  three_organizations "stale_after: 4s"
  cluster_start
  wait_until 15 plugin_connected
  # A backup and an audit of 40 days ago: shapleyd's file beside the ledger says so.
  shapleyctl backup "$CLUSTER_DIR/copy.db"
  shapleyctl audit "$CLUSTER_DIR/copy.db"
  shapleyd_stop
  jq --argjson ago $((40 * 86400)) '.backup.at -= $ago | .audit.at -= $ago' "$CLUSTER_LEDGER.upkeep" >"$CLUSTER_DIR/upkeep"
  cat "$CLUSTER_DIR/upkeep" >"$CLUSTER_LEDGER.upkeep"
  shapleyd_start
  wait_until 20 plugin_connected
  EXPORTER_OPTIONS=(--max-backup-age 2d --max-audit-age 31d)
  monitoring_start
  wait_until 20 firing ShapleyWarning backup
  wait_until 20 firing ShapleyWarning audit
  shapleyctl backup --force "$CLUSTER_DIR/copy.db"
  shapleyctl audit "$CLUSTER_DIR/copy.db"
  wait_until 20 quiet

  set_to clock 7200
  wait_until 20 firing ShapleyWarning clock
  set_to clock 0
  wait_until 20 quiet_about clock

  wait_until 40 corrected_and_fired
  # Answers come between the commits still, so that these are seen.
  set_to disk 200
  wait_until 60 observed_and_fired ShapleyWarning commits
  set_to disk 0
  wait_until 60 observed_and_quiet commits
  wait_until 60 quiet
}

# active_called TITLE: the configuration of the one that writes; an organization's title is an event.
active_called() { three_organizations "    title: $1" "peer: $CLUSTER_DIR/run/standby.sock"; }
# The standby of a pair; its disk is a small one of its own.
standby_start() {
  mkdir -p "$CLUSTER_DIR/disk"
  sed -e "s|^ledger: .*|ledger: $CLUSTER_DIR/disk/ledger.db|" -e "s|^socket: .*|socket: $CLUSTER_DIR/run/standby.sock|" \
    -e "s|^peer: .*|peer: $SHAPLEY_SOCKET|" "$CLUSTER_DIR/shapleyd.yaml" >"$CLUSTER_DIR/standby.yaml"
  daemon_start standby unshare --uts --mount sh -c \
    'hostname other && mount -t tmpfs -o size=6m,mode=700 shapley-test "$1" && exec shapleyd --config "$2"' sh "$CLUSTER_DIR/disk" "$CLUSTER_DIR/standby.yaml"
}
standby_is() { test "$(shapleyctl --socket "$CLUSTER_DIR/run/standby.sock" status --json | jq -r ".daemon.controller | $1")" = "$2"; }

@test "of two controllers' daemons the standby cannot write, and then it dies: both fire at the one that writes" {
  cluster_prepare
  active_called first
  cluster_start
  # Of two with empty ledgers none begins before it has heard the other one.
  standby_start
  wait_until 30 plugin_connected
  wait_until 20 standby_is '"\(.role) \(.behind)"' "standby 0"
  monitoring_start
  wait_until 20 quiet_about peer
  wait_until 20 quiet_about peer_step

  cat /dev/zero >"/proc/$(daemon_pid standby)/root$CLUSTER_DIR/disk/filler" 2>/dev/null || true
  wait_until 60 observed_and_fired ShapleyWarning peer_step
  rm "/proc/$(daemon_pid standby)/root$CLUSTER_DIR/disk/filler"
  wait_until 60 observed_and_quiet peer_step

  daemon_kill9 standby
  wait_until 20 firing ShapleyWarning peer
  standby_start
  wait_until 30 quiet_about peer
}

# south_states SECONDS [OWED]: what the south states, so many seconds ahead of now: astro is owed 40 core-hours there, or OWED core-seconds. It is this cluster's
# own statement, edited, and signed by openssl; its books begin ten days earlier, in which so much can be owed.
south_states() {
  shapleyctl standing | jq -cS --argjson ahead "$1" --arg owed "${2:-144000}" 'del(.signature) | .cluster = "south" | .time += $ahead |
    .period_begin -= 864000 | .organizations = [{organization: "astro", balance: "0", given_less_got: $owed,
    rate_less_used: 0, owned: 0, used: 0, waiting: 0}]' >"$CLUSTER_DIR/south.unsigned" || return 1
  { echo "shapley standing 1" && tr -d '\n' <"$CLUSTER_DIR/south.unsigned"; } >"$CLUSTER_DIR/south.text"
  openssl pkeyutl -sign -rawin -inkey "$CLUSTER_DIR/head.key" -in "$CLUSTER_DIR/south.text" -out "$CLUSTER_DIR/south.signature" || return 1
  jq -cS --arg signature "$(od -An -v -tx1 "$CLUSTER_DIR/south.signature" | tr -d ' \n')" '.signature = $signature' \
    "$CLUSTER_DIR/south.unsigned" >"$CLUSTER_DIR/south.new" && mv "$CLUSTER_DIR/south.new" "$CLUSTER_DIR/south"
}
health_names() { health_is 1 && grep -q "^SHAPLEY WARNING: $1" "$CLUSTER_DIR/log/health"; }

@test "of another cluster of the consortium there is no statement, an old one, a forged one, one from ahead, one that jumps: each fires and health names it; explain and metrics say what counts" {
  cluster_prepare
  shapleyctl keygen "$CLUSTER_DIR/head.key"
  three_organizations "signing_key: $CLUSTER_DIR/head.key" \
    "consortium: {name: uni, every: 1s, clusters: [{name: south, standing: $CLUSTER_DIR/south, public_key: $CLUSTER_DIR/head.key.pub}]}"
  cluster_start
  wait_until 15 plugin_connected
  waiting=$(submit astro --hold true)
  monitoring_start
  wait_until 20 firing ShapleyWarning cluster_statement
  wait_until 20 health_names "ranks do not count the cluster south yet, of which there is no statement: "

  south_states -7200
  wait_until 20 health_names "ranks do not count the cluster south yet, of which there is no statement: it is the first one, .*too old to begin with"
  wait_until 20 firing ShapleyWarning cluster_statement

  south_states 0
  wait_until 20 quiet_about cluster_statement
  wait_until 20 health_is 0
  shapleyctl explain "$waiting" | grep '^Ranks also count the cluster south, which stated .* ago: there astro is owed 40.0 core-hours.$'
  shapleyctl explain bio --against astro | grep '^Ranks also count the cluster south, '
  wait_until 20 metric_is 'shapley_organization_owed_elsewhere_core_seconds{organization="astro", cluster="south"}' 144000

  sed 's/"event":/"event":1/' "$CLUSTER_DIR/south" >"$CLUSTER_DIR/south.new" && mv "$CLUSTER_DIR/south.new" "$CLUSTER_DIR/south"
  wait_until 20 firing ShapleyWarning cluster_refused
  wait_until 20 health_names "a statement of the cluster south is refused: the signature is not of this text"

  south_states 55
  wait_until 20 firing ShapleyWarning cluster_clock
  wait_until 20 health_names ".*the clock of the cluster south is [0-9]* s ahead of the one here"

  south_states 55 50000000
  wait_until 20 firing ShapleyWarning cluster_jump
  wait_until 20 health_names ".*astro gave .* processor-hours more in .* by its statements, more than the cluster can do"
}
