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
# Values: by the type that help names, files by bash itself; names of organizations by status, here of a daemon that is played.
[[ $(offered "$1" statement --contribution hind) == hindsight ]] || die "estimators: $(offered "$1" statement --contribution "")"
[[ $(offered "$1" status --contribution = dir) == direct_contr ]] || die "estimators after a ="
[[ $(offered "$1" history --by mon) == month && $(offered "$1" history -S tod) == today ]] || die "intervals and times"
same months "$(for i in {0..11}; do date -u -d "$(date -u +%Y-%m-15) -$i months" +%Y-%m; done | sort)" "$(offered "$1" statement --month "")"
for files in "audit --against" "status --ledger" "--socket" "status --json"; do [[ -z $(offered "$1" $files "") ]] || die "$files: $(offered "$1" $files "")"; done
played=$(mktemp -d)
trap 'rm -rf "$played"' EXIT
printf '#!/bin/sh\ncase "$*" in *--help*) exec "%s" "$@" ;; *status*) printf "physics\nbiology\nguests\n" ;; esac\n' "$1" >"$played/shapleyctl"
chmod +x "$played/shapleyctl"
[[ $(offered "$played/shapleyctl" status -O ph) == physics && $(offered "$played/shapleyctl" jobs --organization physics,b) == physics,biology ]] || die "organizations"
[[ $(offered "$played/shapleyctl" adjust --to bio) == biology ]] || die "organizations of adjust"
[[ $(offered "$played/shapleyctl" explain g) == guests && $(offered "$played/shapleyctl" explain guests --against ph) == physics ]] || die "organizations of explain"
# Another command has files as the value of an option of this name.
[[ -z $(offered "$played/shapleyctl" audit --against "") ]] || die "audit --against: $(offered "$played/shapleyctl" audit --against "")"
[[ $commands -ge 16 ]] || die "only $commands commands"
echo "completion: $commands commands and their options"
