#!/bin/bash
# Each way of docs/operating/members-without-nodes.md is tried: check-config accepts its configuration, and `status` of a ledger that is made by it
# (tests/sacct/site) shows who owns what, as the page says. Usage: members_without_nodes.sh SHAPLEYCTL
set -euo pipefail
shapleyctl=$(readlink -f "$1")
tree=$(readlink -f "$(dirname "$0")/../..")
page=docs/operating/members-without-nodes.md
site=$tree/tests/sacct/site
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# 1.yaml and 1.shown, 2.yaml and 2.shown, ...: a configuration, and what the command below it prints.
awk '/^```yaml$/ { ++n; inside = 1; next }
     /^```$/ { inside = 0; next }
     inside { print >(n ".yaml"); next }
     /^    \$ shapleyctl status / { shown = 1; next }
     shown && /^    / { sub(/^    /, ""); print >(n ".shown"); next }
     { shown = 0 }' "$tree/$page"

tried=0
for file in *.yaml; do
  way=${file%.yaml}
  "$shapleyctl" check-config "$file" >checked || { cat checked; echo "$page: configuration $way is refused"; exit 1; }
  rm -f site.db
  TZ=UTC "$shapleyctl" import --sacct "$site/march.txt" --config "$file" --nodes "$site/nodes.txt" --ledger site.db >imported
  "$shapleyctl" status --ledger site.db -o organization,owned >printed
  diff -u --label "$page, way $way" --label "printed" <(sort "$way.shown") <(sort printed) || exit 1
  tried=$((tried + 1))
done
[ "$tried" -eq 4 ] || { echo "$page: $tried ways were tried"; exit 1; }
