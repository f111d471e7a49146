# bash completion of shapleyctl, shapleyd, shapley-exporter and shapley-sim. What it offers is what the program's own --help lists, so it cannot lag behind.

# _shapley_listed PATTERN COMMAND...: the words that help lists with two blanks before them and that match.
_shapley_listed() {
  local pattern=$1
  shift
  "$@" --help 2>/dev/null | sed -nE "s/^  (-[A-Za-z],)?($pattern)([ =].*)?\$/\2/p"
}

_shapley() {
  local program=$1 word=$2 command="" known i
  known=" $(_shapley_listed '[a-z][a-z-]*' "$program" | tr '\n' ' ') "
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ $known == *" ${COMP_WORDS[i]} "* ]]; then command=${COMP_WORDS[i]}; break; fi
  done
  if [[ $word == -* ]]; then
    known=$(_shapley_listed '--[a-z0-9-]+' "$program" $command)
  elif [[ -n $command ]]; then
    known=""  # a file: the default below
  fi
  COMPREPLY=($(compgen -W "$known" -- "$word"))
}
complete -o default -F _shapley shapleyctl shapleyd shapley-exporter shapley-sim
