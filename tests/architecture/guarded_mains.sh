#!/usr/bin/env bash
# Every program ends with a sentence when it gets no memory or a defect throws: its folder runs it within run_guarded
# (common/base/process.hpp).
#
# Usage: guarded_mains.sh SOURCE_ROOT. Prints every program without; exit code 1 if there is one.
set -euo pipefail
cd "$1"

checked=0
found=0
while IFS= read -r file; do
  checked=$((checked + 1))
  grep -rqE '\brun_guarded\(' --include='*.cpp' "$(dirname "$file")" && continue
  echo "$file: its program does not run within run_guarded"
  found=1
done < <(grep -rlE '^int main\(' --include='*.cpp' common daemon ctl exporter lab/sim)

[[ $checked -ge 4 ]] || { echo "guarded_mains: $checked programs found under $1"; exit 1; }
[[ $found == 0 ]] && echo "guarded_mains: $checked programs"
exit "$found"
