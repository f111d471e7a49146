# A page of the documentation is walked through: its commands are run as they stand there, and what they print must be what it shows except what
# differs from run to run (masks.sed). To be sourced after cluster.bash.
#
# The page speaks of the folders of a real host. Here they are below SITE, in commands and in what they print.

SITE_FOLDERS='/(etc/shapley|etc/slurm|var/lib/shapley|run/shapley|srv)'

# page_open PAGE: its folders are made, those of one host. What the page has to show is collected where PAGE_RECORD (a file to write) says so.
page_open() {
  PAGE=$1
  PAGE_DIR=$CLUSTER_DIR
  cp "$PAGE" "$PAGE_DIR/page.md"
  page_host "$CLUSTER_DIR/host"
}
# page_host DIR: from now on the page's folders are below DIR, which are made. A page of several hosts goes from one to another.
page_host() {
  SITE=$1
  mkdir -p "$SITE"/{etc/shapley,etc/slurm,var/lib/shapley,run/shapley,srv}
}

# here, there: text of the page for this machine, and back. A test may add lines to page_words and page_words_back: sed's, for words of the page in
# commands, and of this machine in what they print.
page_words="" page_words_back=""
here() { sed -E -e "s#(^|[ =\"'>(])$SITE_FOLDERS#\1$SITE/\2#g" -e "$page_words"; }
# Blank lines at the end are the page's own.
there() { sed -E -e "s#$SITE/#/#g" -e "$page_words_back" -e 's/[[:blank:]]*$//' | sed -e ':more' -e '/^\n*$/{$d;N;b more' -e '}'; }

# block_of SECTION: the lines of its first block, for this machine: what a user is to write into a file.
block_of() {
  awk -v section="$1" '/^#+ / { title = $0; sub(/^#+ /, "", title) }
    title == section && /^    / { print substr($0, 5); found = 1; next }
    found { exit }' "$PAGE" | here
}

# The month of the page is the present one, which must not end meanwhile.
not_at_midnight_of_a_month() { test "$(date -u +%m)" = "$(date -u -d '5 minutes' +%m)"; }
this_month() {
  local shown
  shown=$(grep -m 1 -oE -- '--month [0-9]{4}-[0-9]{2}' "$PAGE" | cut -d ' ' -f 2)
  page_words+="s/$(date -u -d "$shown-01 1 month" +%Y-%m)-01/$(date -u -d "$(date -u +%Y-%m)-01 1 month" +%Y-%m)-01/g
s/$shown/$(date -u +%Y-%m)/g
"
}

# A column of what rounding leaves is taken out, which is there or not by the amounts; the rest by masks.sed.
masked() {
  awk '!NF { at = 0 } /^ *Organization .*\(rounding\)/ { at = index($0, "(rounding)") }
    at { $0 = substr($0, 1, at - 2) substr($0, at + length("(rounding)")) } { print }' "$1" | sed -E -f "$cluster_lib/masks.sed"
}

# walk SECTION: each of its commands, in order, in SITE/srv and in this very shell, so that they may start daemons. One that only asks is asked
# again until the answer is the page's: what another process does is not looked at just once.
walk() {
  local dir n=0
  dir=$PAGE_DIR/walk/$(tr -c '[:alnum:]\n' - <<<"$1")
  mkdir -p "$dir"
  awk -v section="$1" -v dir="$dir" -f "$cluster_lib/page.awk" "$PAGE"
  [ -e "$dir/1.command" ] || { say "$PAGE: no section '$1' with a command"; return 1; }
  while [ -e "$dir/$((++n)).command" ]; do
    here <"$dir/$n.command" >"$dir/$n.here"
    run_step "$dir" "$n" || return 1
  done
  _page_record "$1" "$dir"
}

run_step() {
  local step=$1/$2
  pushd "$SITE/srv" >/dev/null || return 1
  if [ -n "${PAGE_RECORD:-}" ]; then
    answer "$step"
    ! grep '^(exit code' "$step.actual" || { say "$(cat "$step.command")"; cat "$step.actual" >&2; return 1; }
  elif asks_only "$step.command"; then
    wait_until 15 as_shown "$step"
  else
    as_shown "$step"
  fi
  popd >/dev/null || return 1
  [ -z "${PAGE_RECORD:-}" ] || return 0
  diff -u --label "the page" --label "this run" "$step.masked-page" "$step.masked" && return
  say "not as $PAGE shows it: $(cat "$step.command")"
  cat "$step.actual" >&2
  return 1
}
asks_only() { grep -qE '^(shapleyctl (status|explain|health|statement|history|jobs|check-config)|squeue|sprio|promtool) ?' "$1" && ! grep -q '>' "$1"; }
as_shown() {
  answer "$1"
  masked "$1.shown" >"$1.masked-page"
  masked "$1.actual" >"$1.masked"
  cmp -s "$1.masked-page" "$1.masked"
}
# answer STEP: what the command prints, and its exit code where it is not 0.
answer() {
  local code=0
  eval "$(<"$1.here")" >"$1.output" 2>&1 || code=$?
  [ "$code" -eq 0 ] || echo "(exit code $code)" >>"$1.output"
  there <"$1.output" >"$1.actual"
}

_page_record() {
  [ -n "${PAGE_RECORD:-}" ] || return 0
  awk -v section="$1" -v dir="$2" -v record=1 -f "$cluster_lib/page.awk" "$PAGE_DIR/page.md" >"$PAGE_DIR/page.next"
  mv "$PAGE_DIR/page.next" "$PAGE_DIR/page.md"
  cp "$PAGE_DIR/page.md" "$PAGE_RECORD"
}

# commands_of_page: how many the whole page has; walked: how many were run.
commands_of_page() { grep -c '^    \$ ' "$PAGE"; }
walked() { find "$PAGE_DIR/walk" -name '*.command' | wc -l; }
