#!/bin/bash
# What the pages of docs/reference/shapleyctl show of commands that need neither a daemon nor Slurm is what they print: each line that a page shows, but
# for users, whose names are those of another machine. Usage: documented_outputs.sh SHAPLEYCTL
set -euo pipefail
shapleyctl=$(readlink -f "$1")
tree=$(readlink -f "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0 compared=0

# The files that the pages name.
sqlite3 copy.db <"$tree/tests/ledger/dumps/002.sql"
printf 'perod: none\norder: strickt\norganizations:\n  - name: astro\n    nodes: ["n[1-"]\n' >bad.yaml
printf 'period: none\nmode observe\norganizations: []\n' >colon.yaml

# shows PAGE SECTION COMMAND_PATTERN: every command of that page's section which fits is run, and its lines are looked for.
shows() {
  local page=docs/reference/shapleyctl/$1.md command line n=0 fits=0
  rm -rf section && mkdir section
  awk -v section="$2" -v dir=section -f "$tree/tests/e2e/lib/page.awk" "$tree/$page"
  while [ -e section/$((++n)).command ]; do
    command=$(<section/$n.command)
    [[ $command == $3 ]] || continue
    fits=1
    bash -c "shapleyctl() { '$shapleyctl' \"\$@\"; }; $command" >printed 2>&1 || true
    while IFS= read -r line; do
      [[ -n $line && $line != ... && ! $line =~ (karl|maya|rita|' root '|' User ') && ! $line =~ ^[-\ ]+$ ]] || continue
      compared=$((compared + 1))
      grep -qxF -- "$line" printed && continue
      echo "$page, '$command', shows what is not printed: $line"
      failed=1
    done <section/$n.shown
  done
  [ "$fits" = 1 ] || { echo "$page: section '$2' has no command '$3'"; failed=1; }
}

shows status 'status --json' '*'
shows status 'status --worth' '*'
shows statement 'shapleyctl statement' '* --month 2026-11'
shows statement 'Corrections in a statement' '*'
shows statement 'statement --csv' '*'
shows history 'shapleyctl history' '*'
shows adjust 'What holds for all corrections' '*--list*'
shows check-config 'shapleyctl check-config' '*check-config bad.yaml'
shows check-config 'shapleyctl check-config' '*check-config colon.yaml'
[ "$compared" -gt 40 ] || { echo "only $compared lines were compared"; failed=1; }
exit "$failed"
