#!/usr/bin/env bash
# rules.sh SOURCE_DIR: promtool accepts the alerts, its tests of them hold (rules_test.yml), and these test every alert. An end-to-end test makes every alert
# fire, and one for every rule of shapleyctl health but those that tests/e2e/README.md excuses.
set -euo pipefail
rules=$1/etc/prometheus/shapley.rules.yml
tests=$1/tests/exporter/rules_test.yml
promtool check rules "$rules"
promtool test rules "$tests"
bad=0
fired_in_a_test() { [[ $(cat "$1"/tests/e2e/*.bats | grep -cE "(firing|fired) $2(\$| )") -gt 0 ]]; }
while read -r alert; do
  [[ $(grep -A 3 "alertname: $alert\$" "$tests" | grep -c 'exp_alerts:$') -gt 0 ]] || { echo "rules: no test lets $alert fire"; bad=1; }
  grep -A 3 "alertname: $alert\$" "$tests" | grep 'exp_alerts: \[\]$' >/dev/null || { echo "rules: no test keeps $alert quiet"; bad=1; }
  fired_in_a_test "$1" "$alert" || { echo "rules: no end-to-end test makes $alert fire"; bad=1; }
done < <(sed -n 's/.*- alert: //p' "$rules")
excused=" books backlog papers controllers "
while read -r rule; do
  fired_in_a_test "$1" "Shapley(Down|Critical|Warning) $rule" || [[ $excused == *" $rule "* ]] || { echo "rules: no end-to-end test has an alert by the rule $rule"; bad=1; }
done < <(sed -n 's/^| `\([a-z_]*\)` | .*/\1/p' "$1/docs/reference/shapleyctl/health.md")
exit "$bad"
