#!/usr/bin/env bash
# The reference page names every command, option and exit code of the program; the manual page, which has the options of --help, every exit code.
# Usage: manual.sh SHAPLEY_SIM LAB. Exit code 1 when something is missing; all of it is listed.
set -euo pipefail
sim=$1
lab=$2
manual=$(<"$lab/man/shapley-sim.1.in")
reference=$(<"$lab/docs/shapley-sim.md")
missing=()

# names WORD TEXT: the text holds it, not as a part of a longer option.
names() { grep -qE -e "(^|[^a-z-])$1([^a-z-]|\$)" <<<"$2"; }

commands=$("$sim" --help | sed -n '/^Subcommands:/,/^[^ S]/s/^  \([a-z0-9]*\) .*/\1/p')
[[ $(wc -w <<<"$commands") -ge 7 ]] || { echo "--help lists too few commands: $commands"; exit 1; }
for command in $commands; do
  names "shapley-sim $command" "$reference" || missing+=("$command: not in the reference page")
  # Help wraps explanations, which name other options: a line that defines one begins with it.
  options=$("$sim" "$command" --help | sed -nE 's/^ +((-[a-z],)?--[a-z-]+).*/\1/p' | sed 's/^-[a-z],//')
  [[ -n $options ]] || missing+=("$command: --help lists no options")
  for option in $options; do
    [[ $option == --help ]] || names "$option" "$reference" || missing+=("$command $option: not in the reference page")
  done
done
codes=$(sed -nE 's/^inline constexpr int k_exit_[a-z]+ = ([0-9]+);.*/\1/p' "$lab/sim/system.hpp")
[[ $(wc -w <<<"$codes") -ge 5 ]] || { echo "lab/sim/system.hpp has too few exit codes: $codes"; exit 1; }
for code in $codes; do
  grep -qx "\.B $code" <<<"$manual" || missing+=("exit code $code: not in the manual page")
  grep -qE "^\| $code \| " <<<"$reference" || missing+=("exit code $code: not in the reference page")
done
if [[ ${#missing[@]} -gt 0 ]]; then
  printf '%s\n' "${missing[@]}"
  exit 1
fi
echo "manual: every option of $(wc -w <<<"$commands") commands"
