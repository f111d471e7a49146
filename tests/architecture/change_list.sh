#!/usr/bin/env bash
# The list of ten changes in docs/internals/architecture.md: every path that it names exists, and no change touches more than eight files.
# Usage: change_list.sh SOURCE_ROOT. Prints what is wrong; exit code 1 if something is.
set -euo pipefail
cd "$1"
changes=0
bad=0
while IFS='|' read -r _ change files _; do
  changes=$((changes + 1))
  count=0
  # Folders that the words below count in are no files.
  for path in $(sed -E 's/its own (pair|page|test|reader|writer) in `[^`]*`( or `[^`]*`)?/its own \1/g' <<<"$files" | grep -oE '`[^`]*/[^`]*`' | tr -d '`'); do
    count=$((count + 1))
    [[ -e $path ]] || { echo "$change: $path does not exist"; bad=1; }
  done
  # What is not there yet has no path: "its own pair" of files, "its own page", "its own test", "its own reader", "its own writer".
  [[ $files != *"its own pair"* ]] || count=$((count + 2))
  for word in page test reader writer; do
    [[ $files != *"its own $word"* ]] || count=$((count + 1))
  done
  [[ $count -gt 0 && $count -le 8 ]] || { echo "$change: names $count files, allowed are 1 to 8"; bad=1; }
done < <(awk '/^## /{ here = $0 == "## Where a change goes" } here && /^\| / && !/^\| change \|/' docs/internals/architecture.md)
[[ $changes -eq 10 ]] || { echo "change_list: $changes changes found, 10 expected"; bad=1; }
[[ $bad == 0 ]] && echo "change_list: $changes changes, every file is there"
exit "$bad"
