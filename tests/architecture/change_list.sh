#!/usr/bin/env bash
# The eleven changes: nine of the product in docs/internals/architecture.md, two of the laboratory in lab/README.md. Each one links to a real change of its
# kind, tests/architecture/changes/NAME.patch: it applies to the tree as it is, touches eight files at most, and these are the files that the page names; new ones are named by their folder. The patch
# is what counts: a file that the page forgets is found.
# The test programs that a patch builds (Build:) are declared.
# Usage: change_list.sh SOURCE_ROOT. Prints what is wrong; exit code 1 if something is.
set -euo pipefail
cd "$1"
patches=tests/architecture/changes
bad=0
wrong() { echo "$*"; bad=1; }

declare -A linked
changes=0
while IFS=$'\t' read -r change text; do
  changes=$((changes + 1))
  name=$(sed -nE "s#.*\]\((\.\./)+$patches/([a-z_]+)\.patch\).*#\2#p" <<<"$text")
  patch=$patches/$name.patch
  [[ -n $name && -f $patch ]] || { wrong "$change: links to no patch of $patches"; continue; }
  linked[$name]=yes
  said=$(patch --dry-run --strip=1 --fuzz=0 --forward --batch <"$patch") || wrong "$change: $patch does not apply: $said"

  # Of each file the line `--- a/FILE`, of a new one `--- /dev/null`, and then `+++ b/FILE`.
  mapfile -t new < <(awk '/^--- / { old = $2 } /^\+\+\+ b\// && old == "/dev/null" { print substr($2, 3) }' "$patch")
  mapfile -t changed < <(awk '/^--- / { old = $2 } /^\+\+\+ b\// && old != "/dev/null" { print substr($2, 3) }' "$patch")
  count=$((${#new[@]} + ${#changed[@]}))
  [[ $count -gt 0 && $count -le 8 ]] || wrong "$change: $patch touches $count files, allowed are 1 to 8"

  # "a new file in `FOLDER`", "two new files in `FOLDER`".
  folders=$(grep -oE '(a new file|two new files) in `[^`]*`' <<<"$text" | sed -E 's/^two new files in `(.*)`/\1\n\1/; s/^a new file in `(.*)`/\1/' | sort || true)
  named=$(sed -E 's/(a new file|two new files) in `[^`]*`//g' <<<"$text" | grep -oE '`[^` ]*/[^` ]*`' | tr -d '`' | sort -u || true)
  made=$([[ ${#new[@]} == 0 ]] || printf '%s\n' "${new[@]}" | sed 's#/[^/]*$##' | sort)
  touched=$([[ ${#changed[@]} == 0 ]] || printf '%s\n' "${changed[@]}" | sort)
  while read -r line; do [[ -z $line ]] || wrong "$change: $line"; done < <(
    comm -23 <(printf '%s\n' "$touched") <(printf '%s\n' "$named") | sed '/./s/$/ is changed by the patch and not named/'
    comm -13 <(printf '%s\n' "$touched") <(printf '%s\n' "$named") | sed '/./s/$/ is named and not changed by the patch/'
    comm -3 --output-delimiter='' <(printf '%s\n' "$made") <(printf '%s\n' "$folders") | sed '/./s/$/: new files of the patch and of the page differ/'
  )
done < <(awk '
  function change_ends() { if (title != "") print title "\t" text; title = text = "" }
  FNR == 1 { change_ends(); here = 0 }
  /^## / { change_ends(); here = $0 == "## Where a change goes" }
  here && /^### / { change_ends(); title = substr($0, 5); next }
  here && title != "" { text = text " " $0 }
  END { change_ends() }' docs/internals/architecture.md lab/README.md)
[[ $changes -eq 11 ]] || wrong "change_list: $changes changes found, 11 expected"
# The most frequent ones are among them.
for name in request subcommand metric policy; do [[ ${linked[$name]-} == yes ]] || wrong "change_list: no change links to $name.patch"; done
for patch in "$patches"/*.patch; do
  name=$(basename "$patch" .patch)
  [[ ${linked[$name]-} == yes ]] || wrong "$patch: no change links to it"
  for program in $(sed -nE 's/^Build: //p' "$patch" | grep -oE 'test_[a-z_]+'); do
    grep -rqE --include=CMakeLists.txt "shapley_test\\(([a-z_]+ PROGRAM )?${program#test_} " tests lab/tests || wrong "$patch: no test declares the program $program"
  done
done
[[ $bad == 0 ]] && echo "change_list: $changes patches apply and touch the files that the page names"
exit "$bad"
