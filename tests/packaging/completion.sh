#!/usr/bin/env bash
# bash offers every command and every option that a program's help lists, and no other.
# Usage: completion.sh SOURCE_DIR PROGRAM...
set -euo pipefail
source "$1/packaging/completion.bash"
shift
die() { echo "completion: $*"; exit 1; }
for program in "${@##*/}"; do complete -p "$program" >/dev/null || die "$program has none"; done

# offered WORD...: what bash offers for the last of these words, sorted.
offered() {
  local COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _shapley "$1" "${!#}"
  printf '%s\n' "${COMPREPLY[@]}" | sort
}
# same WHAT EXPECTED FOUND
same() { [[ -n $2 && $2 == "$3" ]] || { diff <(echo "$2") <(echo "$3") || true; die "$1: '<' is listed only, '>' offered only"; }; }
# Another reading of help than the completion's own: a line that defines something begins with it.
options_of() { "$@" --help | awk '/^ +-/ { sub(/^ +/, ""); sub(/ .*/, ""); sub(/=.*/, ""); n = split($0, names, ","); print names[n] }' | sort; }
commands=0
for program in "$@"; do
  listed=$("$program" --help | awk '/^Subcommands:/ { here = 1; next } /^[^ ]/ { here = 0 } here && NF { print $1 }' | sort)
  # A program without commands takes files.
  [[ -n $listed ]] || [[ -z $(offered "$program" "") ]] || die "$program: offered without being listed: $(offered "$program" "")"
  [[ -z $listed ]] || same "$program" "$listed" "$(offered "$program" "")"
  same "$program -" "$(options_of "$program")" "$(offered "$program" -)"
  for command in $listed; do
    same "$program $command -" "$(options_of "$program" "$command")" "$(offered "$program" "$command" -)"
    [[ -z $(offered "$program" "$command" "") ]] || die "$program $command: a file's name is expected, not $(offered "$program" "$command" "")"
    commands=$((commands + 1))
  done
done
[[ $(offered "$1" statu) == status && $(offered "$1" --timeout 5 audit --against-) == --against-head ]] || die "beginnings of words are not completed"
[[ $commands -ge 16 ]] || die "only $commands commands"
echo "completion: $commands commands and their options"
