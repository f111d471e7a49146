#!/usr/bin/env bash
# groff formats every manual page without a warning, at the usual widths; the pages of programs have a line for apropos, and every command, option and
# variable that --help of these programs names; the same help makes the same page, wherever it is built. Each command of shapleyctl has a page of the
# reference, which names its options, and a row in the list of commands.
# Usage: manual_pages.sh SOURCE_DIR BUILD_DIR SHAPLEYCTL PROGRAM... All that is wrong is listed.
set -euo pipefail
source=$1
build=$2
shapleyctl=$3
shift 2
wrong=()

# warnings PAGE: what groff has to say, on terminals of 80 and 132 characters and on paper.
warnings() {
  local width
  for width in 80 132; do groff -t -man -ww -Tutf8 -K utf8 -rLL=${width}n -z "$1" 2>&1; done
  groff -t -man -ww -Tps -K utf8 -z "$1" 2>&1
}
pages=("$build"/packaging/*.[1-9])
[ ! -d "$build/lab" ] || pages+=("$build"/lab/*.[1-9])
[[ ${#pages[@]} -gt $# ]] || { echo "manual_pages: only ${#pages[@]} pages"; exit 1; }
for page in "${pages[@]}"; do
  said=$(warnings "$page")
  [[ -z $said ]] || wrong+=("${page##*/}: $said")
done
# A page with a fault has warnings: this check sees them.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '.TH X 1\n.SH NAME\n.NOSUCHREQUEST\n' >"$scratch/faulty.1"
[[ -n $(warnings "$scratch/faulty.1") ]] || wrong+=("groff warns of nothing")

# names WORD TEXT: the text holds it, not as a part of a longer option.
names() { grep -qE -e "(^|[^A-Za-z_-])$1([^A-Za-z_-]|\$)" <<<"$2"; }
commands_of() { "$1" --help | sed -n '/^Subcommands:/,/^[^ S]/s/^  \([a-z][a-z-]*\) .*/\1/p'; }
options_of() { "$@" --help | sed -nE 's/^ +((-[A-Za-z],)?--[a-z0-9-]+).*/\1/p' | sed 's/^-[A-Za-z],//'; }
# section HEADING PAGE: what stands below it, up to the next heading.
section() { awk -v heading="$1" '/^\.S[HS] /{ here = $0 == heading || index($0, heading " ") == 1; next } here' "$2"; }
count=0
for program in "$@"; do
  name=${program##*/}
  page=$(printf '%s\n' "${pages[@]}" | grep "/$name\.[18]\$")
  sed -e 's/\\-/-/g; s/\\f[A-Z]//g' "$page" >"$scratch/page"
  [[ $(section ".SH NAME" "$scratch/page") == "$name - "[a-z]* ]] || wrong+=("$name: no line for apropos")
  for heading in DESCRIPTION OPTIONS '"EXIT STATUS"' ENVIRONMENT '"SEE ALSO"'; do
    [[ -n $(section ".SH $heading" "$scratch/page") ]] || wrong+=("$name: no section $heading")
  done
  # The lines behind .TP define something.
  sed -n '/^\.TP$/{n;p}' "$scratch/page" >"$scratch/tags"
  for option in $(options_of "$program") $("$program" --help | sed -nE '/^Environment:/,/^$/s/^  ([A-Z_]+) .*/\1/p'); do
    names "$option" "$(<"$scratch/tags")" || wrong+=("$name $option: not in the manual page")
  done
  for command in $(commands_of "$program"); do
    count=$((count + 1))
    text=$(section ".SS $name $command" "$scratch/page")
    [[ $text == *"$("$program" "$command" --help | head -n 1)"* ]] || wrong+=("$name $command: not in the manual page")
    for option in $(options_of "$program" "$command"); do
      # The program's own options stand once.
      [[ " --help --socket --host --cluster --timeout " == *" $option "* ]] || names "$option" "$(sed -n '/^\.TP$/{n;p}' <<<"$text")" || wrong+=("$name $command $option: not in the manual page")
    done
  done
  # As a builder of packages makes it: another folder, another day, another environment.
  folder=$source/packaging
  [[ $page != "$build"/lab/* ]] || folder=$source/lab
  for day in 0 1; do
    (cd "$scratch" && SOURCE_DATE_EPOCH=$((day + 1764547200)) SHAPLEY_SOCKET=/nowhere$day "$source/packaging/man/manual" "$program" "$folder/man/${page##*/}.in" "again.$day")
  done
  cmp "$scratch"/again.[01] || wrong+=("$name: is not made reproducibly")
  grep -q '^\.TH [A-Z\-]* "[18]" "December 2025" ' "$scratch/again.0" || wrong+=("$name: SOURCE_DATE_EPOCH is not its date")
  ! grep -n "$(readlink -f "$build")\|$scratch" "$page" || wrong+=("$name: names a folder of the build")
done
[[ $count -ge 13 ]] || { echo "manual_pages: --help lists too few commands"; exit 1; }

list=$(<"$source/docs/reference/shapleyctl.md")
commands=$(commands_of "$shapleyctl")
for command in $commands; do
  grep -qF "| [\`$command\`](shapleyctl/$command.md) |" <<<"$list" || wrong+=("$command: not in the reference's list of commands")
  reference=$(cat "$source/docs/reference/shapleyctl/$command.md" || true)
  [[ $reference == "# shapleyctl $command"$'\n'* ]] || wrong+=("$command: its page does not begin with its name")
  for option in $(options_of "$shapleyctl" "$command"); do
    # The list of commands has those that concern all of them.
    [[ " --help --socket --host --cluster --timeout " == *" $option "* ]] || names "$option" "$reference" || wrong+=("$command $option: not in its page of the reference")
  done
done
for page in "$source"/docs/reference/shapleyctl/*.md; do
  grep -qx "$(basename "$page" .md)" <<<"$commands" || wrong+=("${page##*/}: a page of no command")
done
if [[ ${#wrong[@]} -gt 0 ]]; then
  printf '%s\n' "${wrong[@]}"
  exit 1
fi
echo "manual_pages: ${#pages[@]} pages without a warning, $count commands"
