#!/usr/bin/env bash
# Spoils the list of changes, or a patch, in one way at a time and expects change_list.sh to name what is wrong.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
patches=$tree/tests/architecture/changes
names=(request subcommand metric policy five six seven eight nine ten eleven)

patch_of() {  # FILE...: a patch that changes these, and of NEW=FILE one that makes it
  local file
  for file in "$@"; do
    if [[ $file == NEW=* ]]; then
      printf -- '--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+new\n' "${file#NEW=}"
    else
      printf -- '--- a/%s\n+++ b/%s\n@@ -1,2 +1,2 @@\n first\n-second\n+third\n' "$file" "$file"
    fi
  done
}
list() {  # N TEXT: a list of N changes, the first of which says TEXT
  printf '## Where a change goes\n\n'
  local i
  for ((i = 0; i < $1; ++i)); do
    printf '### Change %s\n\n%s ([patch](../../tests/architecture/changes/%s.patch)).\n\n' "${names[i]}" "$([[ $i == 0 ]] && echo "$2" || echo '`a/1`')" "${names[i]}"
  done
  printf '## What follows\n\n### No change\n\n`b/file`\n'
}
clean() {  # a tree whose list and patches agree
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/docs/internals" "$tree/lab" "$tree/a" "$patches"
  printf '# lab\n' >"$tree/lab/README.md"
  local i
  for i in 1 2 3 4 5 6 7 8 9; do printf 'first\nsecond\n' >"$tree/a/$i"; done
  for i in "${names[@]}"; do patch_of a/1 >"$patches/$i.patch"; done
  patch_of a/1 a/2 NEW=a/new >"$patches/request.patch"
  list 11 '`a/1`, `a/2` (its value), a new file in `a`' >"$tree/docs/internals/architecture.md"
}
caught=0
expect() {  # what must be said
  if said=$("$here/change_list.sh" "$tree"); then echo "not caught: $1"; exit 1; fi
  [[ $said == *"$1"* ]] || { echo "caught, but not as '$1': $said"; exit 1; }
  caught=$((caught + 1))
  clean
}

clean
"$here/change_list.sh" "$tree" >/dev/null || { echo "a clean list does not pass"; exit 1; }
list 11 '`a/1`, a new file in `a`' >"$tree/docs/internals/architecture.md"
expect "Change request: a/2 is changed by the patch and not named"
list 11 '`a/1`, `a/2`, `a/3`, a new file in `a`' >"$tree/docs/internals/architecture.md"
expect "Change request: a/3 is named and not changed by the patch"
list 11 '`a/1`, `a/2`' >"$tree/docs/internals/architecture.md"
expect "Change request: a: new files"
list 11 '`a/1`, `a/2`, two new files in `a`' >"$tree/docs/internals/architecture.md"
expect "Change request: a: new files"
list 10 '`a/1`, `a/2`, a new file in `a`' >"$tree/docs/internals/architecture.md"
expect "10 changes found"
sed -i 's#changes/eleven.patch#changes/twelve.patch#' "$tree/docs/internals/architecture.md"
expect "Change eleven: links to no patch"
printf 'first\nother\n' >"$tree/a/2"
expect "Change request: tests/architecture/changes/request.patch does not apply"
patch_of a/{1,2,3,4,5,6,7,8} NEW=a/new >"$patches/request.patch"
expect "request.patch touches 9 files"
cp "$patches/eleven.patch" "$patches/twelve.patch"
expect "twelve.patch: no change links to it"
mv "$patches/metric.patch" "$patches/measure.patch"
sed -i 's#changes/metric.patch#changes/measure.patch#' "$tree/docs/internals/architecture.md"
expect "no change links to metric.patch"
echo "change_list_catches: $caught spoiled lists and patches caught by name, a clean one passes"
