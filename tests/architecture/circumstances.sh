#!/usr/bin/env bash
# circumstances.sh SOURCE_DIR: each test that docs/internals/circumstances.md names exists, and each of its rows names one or says that there is none.
set -euo pipefail
cd "$1"
page=docs/internals/circumstances.md
faults=0
fault() { echo "$page: $*"; faults=$((faults + 1)); }
is_bats() { [[ -f tests/e2e/$1 ]] && sed -n 's/^@test "\(.*\)" {.*/\1/p' "tests/e2e/$1" | grep -F -- "$2" >/dev/null; }
is_scene() { grep -hF -- "$2" tests/daemon/*/"$1" 2>/dev/null | grep -q '^[A-Z]'; }
# A test of GoogleTest's or RapidCheck's, whose macro may end its line behind the bracket.
cases=$(find tests/ -name '*.cpp' -exec cat {} + | tr '\n' ' ' | grep -oE '(TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\( *[A-Za-z0-9_]+, *[A-Za-z0-9_]+' | sed -E 's/^[A-Z_]*\( *//; s/, */./')
is_case() { grep -qxF -- "$1" <<<"$cases"; }
is_ctest() { grep -rqE "(shapley_command_test\(|NAME )${1%_[0-9]*}(_|[ \$]|\$)" tests --include=CMakeLists.txt; }

rows=0 names=0
while IFS='|' read -r _ circumstance tests _; do
  rows=$((rows + 1))
  mapfile -t named < <(grep -oE '`[^`]+`' <<<"$tests" | tr -d '`')
  [[ ${#named[@]} -gt 0 || $tests == " none " ]] || fault "$circumstance: no test is named"
  for name in "${named[@]}"; do
    names=$((names + 1))
    case $name in
      *.bats:*) is_bats "${name%%:*}" "${name#*: }" ;;
      *.txt:*) is_scene "${name%%:*}" "${name#*: }" ;;
      e2e_faults.*) is_ctest "${name%[0-9]*}" ;;
      *.*) is_case "$name" ;;
      *) is_ctest "$name" ;;
    esac || fault "there is no test $name"
  done
done < <(sed -n '/^|---/,/^$/p' "$page" | grep '^| ')
[[ $rows -ge 12 ]] || fault "only $rows rows are read"
[[ $faults -eq 0 ]] || exit 1
echo "circumstances: $rows rows, $names tests"
