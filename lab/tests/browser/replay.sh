#!/usr/bin/env bash
# The page of `shapley-sim replay` in a real browser: look.py of the product's tests.
# Usage: replay.sh SHAPLEY-SIM MAKE_CONSORTIUM LOOK OUTPUT; the page and screenshots stay in OUTPUT.
set -euo pipefail
sim=$1 make_consortium=$2 look=$3 output=$4

rm -rf "$output"
mkdir -p "$output"
# 30 organizations; guests and commons are two more.
"$make_consortium" "$output/30.db" 30
sqlite3 "$output/30.db" "SELECT text FROM configurations" >"$output/30.yaml"
"$sim" replay --config "$output/30.yaml" --trace "$output/30.db" --since 2026-10-10 --until 2026-10-13 \
  --policies fcfs,fair_share,direct_contr --html "$output/replay-30.html" >"$output/out"
setpriv --pdeathsig KILL "$look" "$output" "replay-30=$output/replay-30.html"
