#!/usr/bin/env bash
# `shapley-sim plan` over the embedded trace, its charts, and what it says to wrong command lines.
# Usage: command_line.sh SHAPLEY_SIM INSTANCE. Exit code 1 at the first thing that is not as it should be.
set -euo pipefail
sim=$1
instance=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wrong() { echo "command_line: $1"; exit 1; }

trace=(plan --trace excerpt --organizations 4 --length 50000)
alone=$("$sim" "${trace[@]}" --algorithm local_hf --json)
together=$("$sim" "${trace[@]}" --algorithm mocca_ilba --json)
[[ $(jq '.schedule | length' <<<"$alone") -gt 10 ]] || wrong "the trace gave no jobs"
[[ $(jq -c '[.schedule[].id] | sort' <<<"$alone") == "$(jq -c '[.schedule[].id] | sort' <<<"$together")" ]] ||
  wrong "the two plans hold different jobs"
# no organization ends later than alone
jq -ne --argjson alone "$alone" --argjson together "$together" '
  def value: split("/") | (.[0] | tonumber) / ((.[1] // "1") | tonumber);
  [$alone.org_makespans, $together.org_makespans] | transpose | all((.[1] | value) <= (.[0] | value))' >/dev/null ||
  wrong "an organization ends later than alone"

if command -v gnuplot >/dev/null; then
  "$sim" plan --instance "$instance" --algorithm local_hf --plot "$folder/charts" >/dev/null
  # all jobs belong to the last of four organizations, so only its cluster has a chart
  [[ $(ls "$folder/charts") == cluster-3.svg ]] || wrong "charts: $(ls "$folder/charts")"
  grep -q '<svg' "$folder/charts/cluster-3.svg" || wrong "the chart is no SVG"
fi

code=0
"$sim" plan --algorithm mocca 2>"$folder/message" || code=$?
[[ $code == 1 ]] && grep -q -e '--instance FILE or --trace FILE' "$folder/message" || wrong "no input: code $code"
code=0
"$sim" plan --instance "$instance" --algorithm nonsense 2>"$folder/message" || code=$?
[[ $code == 1 ]] && grep -q mocca_ilba "$folder/message" || wrong "an unknown algorithm: code $code"
echo "plan: as documented"
