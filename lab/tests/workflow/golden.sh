#!/usr/bin/env bash
# Runs one step of the workflow loop over every golden state in every mode, through the command line, and compares every
# number. Usage: golden.sh SHAPLEY_SIM GOLDEN_DIRECTORY. Exit code 1 when something differs or nothing was compared.
set -euo pipefail
sim=$1
golden=$2
compared=0
bad=0
for file in "$golden"/wf_*.json; do
  for mode in phases_upper_median phases_mid_median elapsed_only_upper_median; do
    wanted=$(jq -cS ".expected.$mode" "$file")
    found=$("$sim" workflow --instance "$file" --mode "$mode" --json | jq -cS .)
    compared=$((compared + 1))
    [[ $wanted == "$found" ]] && continue
    printf '%s, %s:\n  expected %s\n  found    %s\n' "${file##*/}" "$mode" "$wanted" "$found"
    bad=1
  done
done
[[ $compared -gt 0 ]] || { echo "no golden file under $golden"; exit 1; }
echo "$compared states compared"
exit "$bad"
