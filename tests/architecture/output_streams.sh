#!/usr/bin/env bash
# Text output goes through std::cout and std::cerr, which show only printable text (common/base/printable.hpp), and
# through the log, which is printable too. So nothing else writes to standard output or standard error, and each program
# begins with those two streams. Comments are left out. The plugins log through Slurm.
#
# Usage: output_streams.sh SOURCE_ROOT. Prints every line found; exit code 1 if there is one.
set -euo pipefail
cd "$1"

elsewhere='\bfmt::print\b|\b(v?f?printf|v?dprintf|f?puts|fputc|putchar|fwrite|perror)[[:space:]]*\(|\b(stdout|stderr|std::clog)\b|\bwrite\((1|2|STD)'

checked=0
found=0
while IFS= read -r file; do
  checked=$((checked + 1))
  while IFS= read -r line; do
    echo "$file:$line"
    found=1
  done < <(sed -E -e 's,(^|[[:space:]])//.*$,,' "$file" | grep -nE -e "$elsewhere" || true)
done < <(for folder in common daemon ctl exporter lab; do
           [[ ! -d $folder ]] || find "$folder" -path lab/tests -prune -o -type f \( -name '*.hpp' -o -name '*.cpp' \) -print
         done)
for program in daemon ctl exporter lab/sim; do
  for stream in cout cerr; do
    grep -qE "^  const shapley::PrintableStream [a-z]+\(std::$stream\);" "$program/main.cpp" && continue
    echo "$program/main.cpp: no PrintableStream of std::$stream"
    found=1
  done
done

[[ $checked -gt 0 ]] || { echo "output_streams: no source file found under $1"; exit 1; }
[[ $found == 0 ]] && echo "output_streams: $checked files write to standard streams or nowhere"
exit "$found"
