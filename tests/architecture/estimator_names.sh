#!/usr/bin/env bash
# No code of the programs compares with the name of an estimator: what depends on an estimator is a trait of its row in
# common/accounting/estimators/table.cpp, and the table alone has names. shapley-sim's policies have names of their own.
# Usage: estimator_names.sh TREE. Names each line at fault; exit code 1 if there is one.
set -euo pipefail
cd "$1"
table=common/accounting/estimators/table.cpp
names=$(sed -nE 's/^ *(\{|\{\.name = )"([a-z_]+)".*/\2/p' "$table" | paste -sd'|')
[[ $names == *'|'* ]] || { echo "estimator_names: no names in $table"; exit 1; }
bad=$(grep -rnE --include='*.cpp' --include='*.hpp' "(parse_estimator\(|[=!]= ?|find\([a-z_]+, )\"($names)\"" common/accounting \
  common/config common/ledger common/sacct common/site_rules daemon ctl exporter || true)
[[ -z $bad ]] || { printf '%s\n' "$bad"; exit 1; }
echo "estimator_names: only the table has them"
