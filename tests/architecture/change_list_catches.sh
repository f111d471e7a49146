#!/usr/bin/env bash
# Spoils the list of changes in one way at a time and expects change_list.sh to name what is wrong.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/docs/internals" "$tree/a"
touch "$tree/a/file"

list() {  # ten|nine FILES: a list of so many changes, the last of which touches FILES
  printf '## Where a change goes\n\n| change | files |\n|---|---|\n'
  for i in 1 2 3 4 5 6 7 8 9; do printf '| change %d | `a/file` |\n' "$i"; done
  [[ $1 == nine ]] || printf '| the last | %s |\n' "$2"
  printf '\n## Whatever follows\n\n| no change | `b/file` |\n'
}

expect() {  # what must be said
  if said=$("$here/change_list.sh" "$tree"); then echo "not caught: $1"; exit 1; fi
  [[ $said == *"$1"* ]] || { echo "caught, but not by name: $said"; exit 1; }
}

list ten '`a/file`, `a`, `a/file` (more)' >"$tree/docs/internals/architecture.md"
"$here/change_list.sh" "$tree" >/dev/null || { echo "a clean list does not pass"; exit 1; }
list ten '`a/file`, `a/other`' >"$tree/docs/internals/architecture.md"
expect "the last : a/other does not exist"
list ten "$(printf '`a/file` %.0s' 1 2 3 4 5 6 7 8 9)" >"$tree/docs/internals/architecture.md"
expect "the last : names 9 files"
list ten "its own pair in \`a\`, $(printf '`a/file` %.0s' 1 2 3 4 5 6 7)" >"$tree/docs/internals/architecture.md"
expect "the last : names 9 files"
list nine >"$tree/docs/internals/architecture.md"
expect "9 changes found"
echo "change_list_catches: 4 spoiled lists caught by name, a clean one passes"
