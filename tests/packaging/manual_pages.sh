#!/usr/bin/env bash
# groff formats every manual page without a warning, at the usual widths; shapleyctl's manual page names every command and option of the program, and each
# command has a page of the reference, which names its options, and a row in the list of commands.
# Usage: manual_pages.sh SOURCE_DIR BUILD_DIR SHAPLEYCTL. All that is wrong is listed.
set -euo pipefail
source=$1
build=$2
shapleyctl=$3
wrong=()

# warnings PAGE: what groff has to say, tables included, on terminals of 80 and 132 characters and on paper.
warnings() {
  local width
  for width in 80 132; do groff -t -man -ww -Tutf8 -K utf8 -rLL=${width}n -z "$1" 2>&1; done
  groff -t -man -ww -Tps -K utf8 -z "$1" 2>&1
}
pages=("$source"/packaging/man/*.[1-9] "$build"/packaging/*.[1-9])
[ ! -d "$source/lab" ] || pages+=("$source"/lab/man/*.[1-9])
[[ ${#pages[@]} -ge 5 ]] || { echo "manual_pages: only ${#pages[@]} pages"; exit 1; }
for page in "${pages[@]}"; do
  said=$(warnings "$page")
  [[ -z $said ]] || wrong+=("${page##*/}: $said")
done
# A page with a fault has warnings: this check sees them.
faulty=$(mktemp --suffix=.1)
trap 'rm -f "$faulty"' EXIT
printf '.TH X 1\n.SH NAME\n.NOSUCHREQUEST\n' >"$faulty"
[[ -n $(warnings "$faulty") ]] || wrong+=("groff warns of nothing")

# names WORD TEXT: the text holds it, not as a part of a longer option.
names() { grep -qE -e "(^|[^a-z-])$1([^a-z-]|\$)" <<<"$2"; }
manual=$(sed -e 's/\\-/-/g; s/\\f[A-Z]//g' "$source/packaging/man/shapleyctl.1")
list=$(<"$source/docs/reference/shapleyctl.md")
commands=$("$shapleyctl" --help | sed -n '/^Subcommands:/,/^[^ S]/s/^  \([a-z][a-z-]*\) .*/\1/p')
[[ $(wc -w <<<"$commands") -ge 13 ]] || { echo "manual_pages: --help lists too few commands: $commands"; exit 1; }
for command in $commands; do
  names "$command" "$manual" || wrong+=("$command: not in the manual page")
  grep -qF "| [\`$command\`](shapleyctl/$command.md) |" <<<"$list" || wrong+=("$command: not in the reference's list of commands")
  reference=$(cat "$source/docs/reference/shapleyctl/$command.md" || true)
  [[ $reference == "# shapleyctl $command"$'\n'* ]] || wrong+=("$command: its page does not begin with its name")
  for option in $("$shapleyctl" "$command" --help | sed -nE 's/^ +((-[A-Za-z],)?--[a-z0-9-]+).*/\1/p' | sed 's/^-[A-Za-z],//'); do
    # The list of commands has those that concern all of them.
    [[ " --help --socket --host --timeout " == *" $option "* ]] && continue
    names "$option" "$manual" || wrong+=("$command $option: not in the manual page")
    names "$option" "$reference" || wrong+=("$command $option: not in its page of the reference")
  done
done
for page in "$source"/docs/reference/shapleyctl/*.md; do
  grep -qx "$(basename "$page" .md)" <<<"$commands" || wrong+=("${page##*/}: a page of no command")
done
if [[ ${#wrong[@]} -gt 0 ]]; then
  printf '%s\n' "${wrong[@]}"
  exit 1
fi
echo "manual_pages: ${#pages[@]} pages without a warning, $(wc -w <<<"$commands") commands"
