#!/usr/bin/env bash
# A name in a directory that other users can write may be a link, a FIFO or a file without end. So files are opened in a
# few files, which take care of that (common/base/files.hpp); elsewhere no stream and no open(2) is found. Comments are
# left out. The laboratory opens what its user names, and belongs to no daemon or timer.
#
# Usage: file_rooms.sh SOURCE_ROOT. Prints every line found; exit code 1 if there is one.
set -euo pipefail
cd "$1"

# base/files: the rooms. base/process: a file of /proc. ledger/file/files: the lock, which is opened and kept. The
# plugin's files are in StateSaveLocation, which only SlurmUser can write.
rooms=' common/base/files.cpp common/base/process.cpp common/ledger/file/files.cpp plugin/client/spool/spool.cpp plugin/priority/site_factor.c '
opening='\b[iof]?fstream\b|\b(std::)?f(re)?open(64)?[[:space:]]*\(|(^|[^:_[:alnum:]])(::)?(open|openat|creat)(64)?[[:space:]]*\(.*O_'

checked=0
found=0
while IFS= read -r file; do
  [[ $rooms != *" $file "* ]] || continue
  checked=$((checked + 1))
  while IFS= read -r line; do
    echo "$file:$line"
    found=1
  done < <(sed -E -e 's,(^|[[:space:]])//.*$,,' "$file" | grep -nE -e "$opening" || true)
done < <(for folder in common daemon ctl exporter plugin; do
           [[ ! -d $folder ]] || find "$folder" -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print
         done)

[[ $checked -gt 0 ]] || { echo "file_rooms: no source file found under $1"; exit 1; }
[[ $found == 0 ]] && echo "file_rooms: $checked files open no files"
exit "$found"
