# A Prometheus of its own for a private cluster: Debian's, which scrapes shapley-exporter every second and evaluates the alerts that ship. To be
# sourced after cluster.bash. Both servers end with the cluster.

# alerts_in_a_hurry: the rules that ship, as alerts: what must last minutes before it counts (promtool tests that) counts at once here.
alerts_in_a_hurry() {
  sed -E 's/^( *)for: .*/\1for: 0s/' "$(readlink -f "$cluster_lib/../../..")/etc/prometheus/shapley.rules.yml"
}

# EXPORTER_OPTIONS: more options of shapley-exporter, an array; empty unless a test sets it.
exporter_start() { daemon_start exporter shapley-exporter --listen "127.0.0.1:$EXPORTER_PORT" "${EXPORTER_OPTIONS[@]}"; }

monitoring_start() {
  EXPORTER_PORT=$((CLUSTER_PORT + 30))
  PROMETHEUS=http://127.0.0.1:$((CLUSTER_PORT + 28))
  alerts_in_a_hurry >"$CLUSTER_DIR/shapley.rules.yml"
  cat >"$CLUSTER_DIR/prometheus.yml" <<YAML
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [shapley.rules.yml]
scrape_configs:
  - job_name: shapley
    static_configs: [{targets: ["127.0.0.1:$EXPORTER_PORT"]}]
YAML
  exporter_start
  daemon_start prometheus prometheus --config.file="$CLUSTER_DIR/prometheus.yml" --storage.tsdb.path="$CLUSTER_DIR/run/tsdb" \
    --web.listen-address="${PROMETHEUS#http://}" --log.level=warn
  wait_until 30 metric_is shapley_up 1
}

monitoring_stop() {
  daemon_stop prometheus
  daemon_stop exporter
}

# query EXPRESSION: what Prometheus answers; nothing where there is no sample.
query() { timeout 30 promtool query instant "$PROMETHEUS" "$1"; }
# metric_is SELECTOR VALUE
metric_is() { query "$1 == $2" | grep -q .; }
# unknown SELECTOR: Prometheus answers, and has no sample of it.
unknown() { [ -n "$(query 'vector(1)')" ] && [ -z "$(query "$1")" ]; }
# alerts_of ALERT [RULE]: a selector; with a rule of shapleyctl health, of that rule only.
alerts_of() { echo "ALERTS{alertname=\"$1\", alertstate=\"firing\"${2:+, rule=\"$2\"}}"; }
firing() { query "$(alerts_of "$@")" | grep -q .; }
# has_fired ALERT [RULE]: now or before, for what does not last until one looks.
has_fired() { query "count_over_time($(alerts_of "$@")[1h])" | grep -q .; }
quiet() { [ -n "$(query 'vector(1)')" ] && [ -z "$(query 'ALERTS')" ]; }
# quiet_about RULE
quiet_about() { [ -n "$(query 'vector(1)')" ] && [ -z "$(query "ALERTS{rule=\"$1\"}")" ]; }

# health_is CODE: how shapleyctl health ends now.
health_is() {
  local code=0
  shapleyctl health >"$CLUSTER_DIR/log/health" || code=$?
  [ "$code" -eq "$1" ]
}
