#!/usr/bin/env bash
# rules.sh SOURCE_DIR: promtool accepts the alerts, its tests of them hold (rules_test.yml, rules_days_test.yml), and these test every alert; an end-to-end
# test makes every alert fire but those that docs/internals/testing.md excuses.
set -euo pipefail
rules=$1/etc/prometheus/shapley.rules.yml
tests=("$1/tests/exporter/rules_test.yml" "$1/tests/exporter/rules_days_test.yml")
promtool check rules "$rules"
promtool test rules "${tests[@]}"
excused=" ShapleyNotBalanced "
bad=0
while read -r alert; do
  [[ $(grep -A 3 "alertname: $alert\$" <(cat "${tests[@]}") | grep -c 'exp_alerts:$') -gt 0 ]] || { echo "rules: no test lets $alert fire"; bad=1; }
  grep -A 3 "alertname: $alert\$" <(cat "${tests[@]}") | grep 'exp_alerts: \[\]$' >/dev/null || { echo "rules: no test keeps $alert quiet"; bad=1; }
  fired=$(cat "$1"/tests/e2e/*.bats | grep -cE "(firing|fired) $alert(\$| )") || true
  [[ $fired -gt 0 || $excused == *" $alert "* ]] || { echo "rules: no end-to-end test makes $alert fire"; bad=1; }
done < <(sed -n 's/.*- alert: //p' "$rules")
exit "$bad"
