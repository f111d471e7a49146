#!/usr/bin/env bats
# shapley-exporter and the alerts that ship, seen by a real Prometheus, and `shapleyctl health`: when a cause is made, its alert fires, and it is
# quiet again afterwards. Those of trouble that lasts: alerts.bats. How long it must last is tested by promtool (tests/exporter/rules_test.yml).

load lib/e2e
load lib/monitoring

teardown() {
  monitoring_stop || true
  end_cluster
}

# Every expression of the dashboard, as Grafana asks it; `names` also those of the rules, for Prometheus took these over.
dashboard_expressions() {
  jq -r '.panels[].targets // [] | .[].expr' "$BATS_TEST_DIRNAME/../../etc/grafana/shapley.json" |
    sed "s/\\\$instance/127.0.0.1:$EXPORTER_PORT/g"
}

@test "a daemon, a plugin and an exporter that are away, an audit with findings: each alert fires, health says it, and both are quiet afterwards" {
  start_with
  monitoring_start
  shapley-exporter --print >"$CLUSTER_DIR/log/metrics"
  promtool check metrics <"$CLUSTER_DIR/log/metrics"
  wait_until 20 metric_is 'shapley_organization_owned_processors{organization="astro"}' 32
  wait_until 20 metric_is shapley_plugin_connected 1
  wait_until 20 quiet
  wait_until 20 health_is 0

  # Grafana's questions are answered; those about a backup want one.
  shapleyctl backup "$CLUSTER_DIR/copy.db"
  shapleyctl audit "$CLUSTER_DIR/copy.db"
  wait_until 20 metric_is 'shapley_health{rule="audit_findings"}' 0
  wait_until 20 metric_is 'time() - shapley_last_backup_timestamp_seconds < bool 3600' 1
  while IFS= read -r expression; do wait_until 10 query "$expression" || { echo "not answered: $expression"; return 1; }; done < <(dashboard_expressions)
  [ "$(dashboard_expressions | wc -l)" -gt 20 ]

  shapleyd_kill9
  wait_until 20 firing ShapleyDown daemon
  wait_until 20 unknown shapley_plugin_connected
  wait_until 20 health_is 2
  grep -q '^SHAPLEY CRITICAL: cannot reach shapleyd at ' "$CLUSTER_DIR/log/health"
  shapleyd_start
  wait_until 30 quiet
  # Backups and audits outlive the daemon.
  wait_until 20 metric_is 'shapley_health{rule="audit_findings"}' 0

  ctld_kill9
  wait_until 20 firing ShapleyCritical plugin
  wait_until 20 health_is 2
  grep -q '^SHAPLEY CRITICAL: the plugin is not connected, last heard ' "$CLUSTER_DIR/log/health"
  ctld_start
  wait_until 30 quiet
  wait_until 20 health_is 0

  daemon_kill9 exporter
  wait_until 20 firing ShapleyExporterDown
  exporter_start
  wait_until 30 quiet

  # A user edited a copy; its last event is still that of the ledger.
  sqlite3 "$CLUSTER_DIR/copy.db" "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET received = received + 1 WHERE seq = 2"
  run shapleyctl audit "$CLUSTER_DIR/copy.db"
  [ "$status" -eq 1 ]
  wait_until 20 firing ShapleyCritical audit_findings
  wait_until 20 health_is 2
  grep -q '^SHAPLEY CRITICAL: the last audit, .* had findings' "$CLUSTER_DIR/log/health"
}

@test "a reload that is refused: its alert fires until the file is right" {
  start_with
  monitoring_start
  wait_until 20 quiet
  cp "$CLUSTER_DIR/shapleyd.yaml" "$CLUSTER_DIR/right.yaml"
  sed -i '1i nonsense: 1' "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 20 firing ShapleyWarning configuration
  wait_until 20 health_is 1
  grep -q '^SHAPLEY WARNING: the configuration was refused ' "$CLUSTER_DIR/log/health"
  cp "$CLUSTER_DIR/right.yaml" "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 20 quiet
}

# On a small disk of its own, which only this shapleyd sees.
shapleyd_on_small_disk() {
  mkdir -p "$CLUSTER_DIR/disk"
  daemon_start shapleyd unshare --mount sh -c \
    'mount -t tmpfs -o size=6m,mode=700 shapley-test "$1" && exec shapleyd --config "$2"' sh "$CLUSTER_DIR/disk" "$CLUSTER_DIR/shapleyd.yaml"
}
filler() { echo "/proc/$(daemon_pid shapleyd)/root$CLUSTER_DIR/disk/filler"; }
# What is observed meanwhile must find no room in SQLite's log either.
observed_and_firing() {
  submit astro -n1 true >/dev/null
  firing "$@"
}
observed_and_failing() {
  submit astro -n1 true >/dev/null
  health_is 2 && grep -q '^SHAPLEY CRITICAL: commit fails: ' "$CLUSTER_DIR/log/health"
}

@test "a full disk: commits fail, that fires, the plugin's messages wait, and nothing is lost when there is room again" {
  shapleyd_launch() { shapleyd_on_small_disk; }
  cluster_prepare
  CLUSTER_LEDGER=$CLUSTER_DIR/disk/ledger.db
  three_organizations
  cluster_start
  wait_until 15 plugin_connected
  monitoring_start
  wait_until 20 quiet_about operations
  # A disk of 6 MB is always short.
  wait_until 20 firing ShapleyWarning disk
  cat /dev/zero >"$(filler)" 2>/dev/null || true
  wait_until 60 observed_and_firing ShapleyCritical operations
  wait_until 60 observed_and_failing
  wait_until 60 metric_is "shapley_plugin_backlog_messages > bool 0" 1
  rm "$(filler)"
  wait_until 60 quiet_about operations
  wait_until 60 metric_is shapley_plugin_backlog_messages 0
  # It is short of room still.
  wait_until 20 health_is 1
}
