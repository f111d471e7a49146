#!/usr/bin/env bash
# rules.sh SOURCE_DIR: promtool accepts the alerts, its tests of them hold (rules_test.yml, rules_days_test.yml), and these test every alert.
set -euo pipefail
rules=$1/etc/prometheus/shapley.rules.yml
tests=("$1/tests/exporter/rules_test.yml" "$1/tests/exporter/rules_days_test.yml")
promtool check rules "$rules"
promtool test rules "${tests[@]}"
bad=0
while read -r alert; do
  [[ $(grep -A 3 "alertname: $alert\$" <(cat "${tests[@]}") | grep -c 'exp_alerts:$') -gt 0 ]] || { echo "rules: no test lets $alert fire"; bad=1; }
  grep -A 3 "alertname: $alert\$" <(cat "${tests[@]}") | grep 'exp_alerts: \[\]$' >/dev/null || { echo "rules: no test keeps $alert quiet"; bad=1; }
done < <(sed -n 's/.*- alert: //p' "$rules")
exit "$bad"
