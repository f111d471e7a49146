#!/usr/bin/env bash
# Plans every golden instance with every algorithm through the command line and compares makespans, the organizations'
# makespans and, where the golden file says that ties do not matter or ties are broken as documented, the whole schedule.
# Usage: golden.sh SHAPLEY_SIM GOLDEN_DIRECTORY. Exit code 1 when something differs or nothing was compared.
set -euo pipefail
sim=$1
golden=$2
# algorithm of the command line -> member of the golden files' "expected"
names="local_hf:local_HF local_lpt:local_LPT local_spt:local_SPT mocca:mocca3 mocca4_hf:mocca4_HF mocca4_lpt:mocca4_LPT
  mocca4_spt:mocca4_SPT mocca_experiment:mocca_exp3 mocca_experiment_ilba:mocca_exp3_ilba ilba:local_ilba
  mocca_ilba:mocca3_ilba"
compared=0
bad=0
for file in "$golden"/mosp_*.json; do
  for pair in $names; do
    wanted=$(jq -cS ".expected.${pair#*:} | {cmax, score, org_makespans, schedule: (.schedule | sort_by(.id))}" "$file")
    found=$("$sim" plan --instance "$file" --algorithm "${pair%%:*}" --json |
      jq -cS '{cmax, score, org_makespans, schedule: (.schedule | sort_by(.id))}')
    compared=$((compared + 1))
    [[ $wanted == "$found" ]] && continue
    printf '%s, %s:\n  expected %s\n  found    %s\n' "${file##*/}" "${pair%%:*}" "$wanted" "$found"
    bad=1
  done
  bound=$("$sim" plan --instance "$file" --algorithm local_hf --json | jq -r .LB)
  [[ $bound == "$(jq -r .expected.LB "$file")" ]] || { echo "${file##*/}: LB is $bound"; bad=1; }
done
[[ $compared -gt 0 ]] || { echo "no golden file under $golden"; exit 1; }
echo "$compared schedules compared"
exit "$bad"
