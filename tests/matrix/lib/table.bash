# The table, on the screen and between two comments of docs/operating/versions.md. To be sourced by `run` after try.bash.

table_head() {
  echo '| Slurm | accounts | builds | unit | loads | orders | ledger equals records | site_factor | date | commit |'
  echo '|---|---|---|---|---|---|---|---|---|---|'
}

# table_row RELEASE: from `cell`. A commit with + had changes beside it.
table_row() {
  local commit
  commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
  [ -z "$(git -C "$root" status --porcelain 2>/dev/null)" ] || commit+="+"
  printf '| %s | %s | %s | %s | %s | %s | %s | %s | %(%F)T | %s |\n' "$1" "${cell[accounts]}" "${cell[builds]}" "${cell[unit]}" "${cell[loads]}" \
    "${cell[orders]}" "${cell[ledger]}" "${cell[site_factor]}" -1 "$commit"
}

# write_rows PAGE ROWS: the rows of a file into the page's table, each in place of the earlier row of its release, in order of releases.
write_rows() {
  local page=$1 rows=$2 merged
  grep -qx '<!-- matrix: begin -->' "$page" && grep -qx '<!-- matrix: end -->' "$page" || {
    echo "$page: no table between lines '<!-- matrix: begin -->' and '<!-- matrix: end -->'; put these lines where it belongs" >&2
    return 1
  }
  merged=$(mktemp)
  {
    table_head
    { cat "$rows"; sed -n '/^<!-- matrix: begin -->$/,/^<!-- matrix: end -->$/p' "$page" | grep -E '^\| [0-9]'; } |
      awk '!seen[$2]++' | sort -t '|' -k 2,2V
  } >"$merged"
  awk -v merged="$merged" '
    /^<!-- matrix: end -->$/ { inside = 0 }
    !inside { print }
    /^<!-- matrix: begin -->$/ { inside = 1; while ((getline line < merged) > 0) print line }' "$page" >"$merged.page" &&
    cat "$merged.page" >"$page"
  rm -f "$merged" "$merged.page"
}
