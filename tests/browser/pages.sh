#!/usr/bin/env bash
# The pages of `shapleyctl report` in a real browser: look.py. Of 3 and 40 organizations, of a time and of the present, of one
# organization, of a consortium, and of books that were corrected.
# Usage: pages.sh SHAPLEYCTL MAKE_CONSORTIUM OUTPUT; pages and screenshots stay in OUTPUT.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
shapleyctl=$1 make_consortium=$2 output=$3
die() { echo "pages: $*"; exit 1; }

pages=()
# page NAME ARGUMENTS...
page() {
  local name=$1
  shift
  "$shapleyctl" report -o "$output/$name" "$@" >"$output/out" || [[ $? == 6 ]] || die "$name is not written: $(<"$output/out")"
  [[ $(head -n 1 "$output/out") == "$output/$name/index.html" ]] || die "report does not say where the page is: $(<"$output/out")"
  pages+=("$name=$output/$name/index.html")
}

rm -rf "$output"
mkdir -p "$output"
for organizations in 3 40; do
  ledger=$output/$organizations.db
  "$make_consortium" "$ledger" "$organizations"
  each=()
  [[ $organizations != 3 ]] || each=(--per-organization)
  page "report-$organizations" --ledger "$ledger" --since 2026-10-10 "${each[@]}" --utilization
  page "live-$organizations" --live --every 30 --ledger "$ledger"
done
page invoice-40 --ledger "$output/40.db" -S 2026-10-01 -E 2026-12-01 --users --by-month --rate 0.02
pages+=("member=$output/report-3/organizations/physics/index.html")
for recording in consortium adjusted; do
  mkdir "$output/$recording.ledgers"
  "$here/../recordings/unpack" "$recording" "$output/$recording.ledgers"
done
page corrected --ledger "$output/adjusted.ledgers/ledger.db" --users
page consortium --consortium "$output"/consortium.ledgers/{north,south}.db --users --board
setpriv --pdeathsig KILL "$here/look.py" "$output" "${pages[@]}"
