#!/usr/bin/env bash
# The pages of `shapleyctl report` (3 and 40 organizations, of a time and of the present) in a real browser: look.py.
# Usage: pages.sh SHAPLEYCTL MAKE_CONSORTIUM OUTPUT; pages and screenshots stay in OUTPUT.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
shapleyctl=$1 make_consortium=$2 output=$3
die() { echo "pages: $*"; exit 1; }

rm -rf "$output"
mkdir -p "$output"
pages=()
for organizations in 3 40; do
  ledger=$output/$organizations.db
  "$make_consortium" "$ledger" "$organizations"
  "$shapleyctl" report --ledger "$ledger" --since 2026-10-10 -o "$output/report-$organizations" >"$output/out"
  [[ $(<"$output/out") == "$output/report-$organizations/index.html" ]] || die "report does not say where the page is: $(<"$output/out")"
  pages+=("report-$organizations=$output/report-$organizations/index.html")
done
for organizations in 3 40; do
  "$shapleyctl" report --live --every 30 --ledger "$output/$organizations.db" -o "$output/live-$organizations" >"$output/out"
  pages+=("live-$organizations=$output/live-$organizations/index.html")
done
setpriv --pdeathsig KILL "$here/look.py" "$output" "${pages[@]}"
