#!/usr/bin/env bash
# Rows that ./dev matrix --write puts into a page: new ones in order, in place of earlier ones of their release; nothing else changes.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/lib/table.bash"
source "$here/lib/try.bash"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
wrong() { echo "matrix_table: $*" >&2; exit 1; }

printf '%s\n' 'Before | 9.9.9 |' '<!-- matrix: begin -->' '| an older head |' '| 24.05.8 | old |' '| 22.05.8 | kept |' '<!-- matrix: end -->' 'After.' >"$dir/page"
printf '%s\n' '| 25.11.7 | new |' '| 24.05.8 | new |' '| 9.10.1 | new |' >"$dir/rows"
write_rows "$dir/page" "$dir/rows"
printf '%s\n' 'Before | 9.9.9 |' '<!-- matrix: begin -->' "$(table_head)" '| 9.10.1 | new |' '| 22.05.8 | kept |' '| 24.05.8 | new |' '| 25.11.7 | new |' \
  '<!-- matrix: end -->' 'After.' | diff - "$dir/page" || wrong "the page is not what it should be"

# A page without a place for the table is left as it is, and said to be at fault.
printf 'no table\n' >"$dir/page"
! write_rows "$dir/page" "$dir/rows" 2>"$dir/said" || wrong "a page without marks was written"
grep -q "$dir/page: no table between" "$dir/said" || wrong "the fault is not said"
[ "$(cat "$dir/page")" = "no table" ] || wrong "a page without marks was changed"

# What makes a row fail.
for good in yes - plain "5 of 5" "12 of 12"; do cell_is_good "$good" || wrong "'$good' is taken for a failure"; done
for bad in no "0 of 5" "11 of 12" "1 of 11"; do ! cell_is_good "$bad" || wrong "'$bad' is not taken for a failure"; done
