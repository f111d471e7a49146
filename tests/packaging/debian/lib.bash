# To be sourced by what runs inside the root.
books=/var/lib/shapley
step() { printf '== %s\n' "$*"; }
die() { printf 'packages: %s\n' "$*" >&2; exit 1; }
# must WHAT COMMAND...: COMMAND succeeds, or the test ends with WHAT and what COMMAND said.
must() {
  local what=$1 said
  shift
  said=$("$@" 2>&1) || die "$what: $* ($said)"
}
must_fail() {
  local what=$1
  shift
  ! said=$("$@" 2>&1) || die "$what: $*"
}
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
