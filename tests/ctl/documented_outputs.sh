#!/bin/bash
# What docs/reference/shapleyctl.md shows of commands that need neither a daemon nor Slurm is what they print: each line that it shows, but for users,
# whose names are those of another machine. Usage: documented_outputs.sh SHAPLEYCTL
set -euo pipefail
shapleyctl=$(readlink -f "$1")
tree=$(readlink -f "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0 compared=0

# The files that the page speaks of.
sqlite3 copy.db <"$tree/tests/ledger/dumps/001.sql"
printf 'colour: red\norder: strickt\norganizations:\n  - name: astro\n    nodes: ["n[1-"]\n' >bad.yaml
printf 'period: none\nmode observe\norganizations: []\n' >colon.yaml

# shows SECTION COMMAND_PATTERN: every command of that section which fits is run, and its lines are looked for.
shows() {
  local command line n=0 fits=0
  rm -rf section && mkdir section
  awk -v section="$1" -v dir=section -f "$tree/tests/e2e/lib/page.awk" "$tree/docs/reference/shapleyctl.md"
  while [ -e section/$((++n)).command ]; do
    command=$(<section/$n.command)
    [[ $command == $2 ]] || continue
    fits=1
    bash -c "shapleyctl() { '$shapleyctl' \"\$@\"; }; $command" >printed 2>&1 || true
    while IFS= read -r line; do
      [[ -n $line && $line != ... && ! $line =~ (karl|maya|rita|' root '|' User ') && ! $line =~ ^[-\ ]+$ ]] || continue
      compared=$((compared + 1))
      grep -qxF -- "$line" printed && continue
      echo "docs/reference/shapleyctl.md, '$command', shows what is not printed: $line"
      failed=1
    done <section/$n.shown
  done
  [ "$fits" = 1 ] || { echo "docs/reference/shapleyctl.md: section '$1' has no command '$2'"; failed=1; }
}

shows 'status --json' '*'
shows 'status --worth' '*'
shows statement '* --month 2026-11'
shows 'statement --csv' '*'
shows history '*'
shows check-config '*check-config bad.yaml'
shows check-config '*check-config colon.yaml'
[ "$compared" -gt 40 ] || { echo "only $compared lines were compared"; failed=1; }
exit "$failed"
