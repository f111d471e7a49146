# bash completion of shapleyctl, shapleyd, shapley-exporter and shapley-sim. What it offers is what the program's own --help lists, so it cannot lag behind:
# commands, options, and of an option's value what its type in the help says. Names of organizations come from shapleyctl status.

# _shapley_listed PATTERN COMMAND...: the words that help lists with two blanks before them and that match.
_shapley_listed() {
  local pattern=$1
  shift
  "$@" --help 2>/dev/null | sed -nE "s/^  (-[A-Za-z],)?($pattern)([ =].*)?\$/\2/p"
}

# _shapley_type OPTION COMMAND...: the type of the option's value in the help; empty if it takes none.
_shapley_type() {
  local option=$1
  shift
  "$@" --help 2>/dev/null | sed -nE "s/^  ((-[A-Za-z],)?$option|$option,--[a-z0-9-]+)[ =]([A-Z]+([:=[][^ ]*)?)( .*)?\$/\3/p" | head -1
}

# _shapley_values TYPE OPTION: words for a value of this type; none for a file, which bash itself completes.
_shapley_values() {
  local i
  case $1 in
    *:\{*\}*) i=${1#*:\{}; i=${i%%\}*}; echo "${i//,/ }" ;;
    TIME) echo "today now-1hour now-1day now-1week" ;;
    MONTH) for i in {0..11}; do date -u -d "$(date -u +%Y-%m-15) -$i months" +%Y-%m; done ;;
    NAME | NAMES) case $2 in -O | --organization | --against | --to | --merge | --rename | --owners) _shapley_organizations ;; esac ;;
  esac
}

# The names that the daemon of $program knows, if it answers at once.
_shapley_organizations() { "$program" --timeout 1 status --noheader --parsable2 --format=organization 2>/dev/null; }

_shapley() {
  local program=$1 word=$2 command="" known option type="" before="" i
  known=" $(_shapley_listed '[a-z][a-z-]*' "$program" | tr '\n' ' ') "
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ $known == *" ${COMP_WORDS[i]} "* ]]; then command=${COMP_WORDS[i]}; break; fi
  done
  option=${COMP_WORDS[COMP_CWORD - 1]}
  # --option=value is three words to bash.
  if [[ $word == = ]]; then word=""; elif [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD - 2]}; fi
  [[ $option == -* ]] && type=$(_shapley_type "$option" "$program" $command)
  if [[ -n $type ]]; then
    known=$(_shapley_values "$type" "$option")
    if [[ $type == NAMES && $word == *,* ]]; then before=${word%,*},; fi
  elif [[ $word == -* ]]; then
    known=$(_shapley_listed '--[a-z0-9-]+' "$program" $command)
  elif [[ $command == explain || $command == workflows ]]; then
    known=$(_shapley_organizations)
  elif [[ -n $command ]]; then
    known=""  # a file: the default below
  fi
  COMPREPLY=($(compgen -P "$before" -W "$known" -- "${word#"$before"}"))
}
complete -o default -F _shapley shapleyctl shapleyd shapley-exporter shapley-sim
