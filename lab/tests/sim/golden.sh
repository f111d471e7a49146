#!/usr/bin/env bash
# Runs every golden case through the command line and compares every expected member, to the digit.
# Usage: golden.sh SHAPLEY_SIM FOLDER
set -euo pipefail
sim=$1
folder=$2
compared=0
for file in "$folder"/*.json; do
  for policy in $(jq -r '.expected | keys_unsorted[]' "$file"); do
    expected=$(jq -cS --arg p "$policy" '.expected[$p] | del(.permutations)' "$file")
    name=$policy
    extra=()
    if [[ $policy == rand_given_permutations ]]; then
      name=rand
      extra=(--permutations "$(jq -r --arg p "$policy" '.expected[$p].permutations | map(map(tostring) | join("")) | join(",")' "$file")")
    fi
    # Only the members that the golden file states; the policy may report more (phi of rand and shapley_rate).
    found=$("$sim" run --instance "$file" --policy "$name" --json --schedule "${extra[@]}" |
      jq -cS --argjson e "$expected" '.results[0] | with_entries(select(.key as $k | $e | has($k)))')
    if [[ $found != "$expected" ]]; then
      echo "$(basename "$file") $policy differs"
      echo "  expected $expected"
      echo "  found    $found"
      exit 1
    fi
    compared=$((compared + 1))
  done
done
[[ $compared -gt 0 ]] || { echo "no golden case in $folder"; exit 1; }
echo "$compared golden results agree to the digit"
