#!/usr/bin/env bash
# SQL stays in common/ledger, below its reports and adjustments: no source of another layer, and none of these two rooms,
# holds text of an SQL statement.
#
# Comments are left out. Words in capitals are looked for anywhere, so that a statement that is written over several lines or
# literals is found by each of its lines; in lower case only what begins a statement, at the beginning of a literal.
#
# Usage: sql_text.sh SOURCE_ROOT. Prints every line found; exit code 1 if there is one.
set -euo pipefail
cd "$1"

capitals='\b(SELECT|INSERT INTO|INSERT OR|UPDATE [a-z_]+ SET|DELETE FROM|FROM [a-z_]+|LEFT JOIN|INNER JOIN|CROSS JOIN|GROUP BY|ORDER BY|PRAGMA [a-z_]+|(CREATE|DROP|ALTER) (TABLE|INDEX|VIEW|TRIGGER))\b'
tables='(events|segments|segment_nodes|jobs|organizations|ownership|capacity|periods|books_by_day|contributions_by_day|checkpoints|checkpoint_parts|heads|identity|configurations)'
small='["(][[:space:]]*(select[[:space:]].*[[:space:]]from '"$tables"'|insert into|update [a-z_]+ set|delete from|pragma [a-z_]+|with recursive)\b'

checked=0
found=0
while IFS= read -r file; do
  checked=$((checked + 1))
  while IFS= read -r line; do
    echo "$file:$line"
    found=1
  done < <(sed -E -e 's,(^|[[:space:]])//.*$,,' -e 's,/\*.*\*/,,' "$file" | grep -nE -e "$capitals" -e "$small" || true)
done < <(for folder in common common/ledger/reports common/ledger/adjustments daemon ctl exporter plugin lab; do
           [[ ! -d $folder ]] || find "$folder" \( -path common/ledger -o -path lab/tests \) -prune -o -type f \
             \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' -o -name '*.in' \) -print
         done)

[[ $checked -gt 0 ]] || { echo "sql_text: no source file found under $1"; exit 1; }
[[ $found == 0 ]] && echo "sql_text: $checked files above the ledger's readers, no SQL"
exit "$found"
