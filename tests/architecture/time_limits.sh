#!/usr/bin/env bash
# Every test of a build folder has a time limit of its own, of an hour at most: none relies on ctest's.
# Usage: time_limits.sh BUILD. Names the tests at fault; exit code 1 if there is one.
set -euo pipefail
# From a folder of its own: ctest's log in the build folder belongs to the ctest that runs this.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "subdirs(\"$1\")" >"$folder/CTestTestfile.cmake"
tests=$(cd "$folder" && ctest --show-only=json-v1)
[[ $(jq '.tests | length' <<<"$tests") -gt 0 ]] || { echo "time_limits: no test in $1"; exit 1; }
bad=$(jq -r '.tests[] | ([.properties[]? | select(.name == "TIMEOUT").value] | first // 0) as $limit
  | select($limit <= 0 or $limit > 3600) | "\(.name): \($limit) s"' <<<"$tests")
[[ -z $bad ]] || { printf 'time_limits: without a limit, or above an hour:\n%s\n' "$bad"; exit 1; }
echo "time_limits: $(jq '.tests | length' <<<"$tests") tests, each with a limit"
