# One release: built against, its unit tests, and a real cluster of it. To be sourced by `run`, which sets
# clusters (yes or no), after source.bash.

unit_programs=(plugin_records_test plugin_allocation_test plugin_waiting_test plugin_placement_test plugin_privacy_test plugin_ranking_test test_plugin_host
  test_plugin_calls)
# Their names in ctest.
unit_tests=("${unit_programs[@]#test_}")
unit_tests=("${unit_tests[@]%_test}")
declare -A cell

# try_release RELEASE: fills `cell` ("yes", "no", "N of M"; "-": not tried); fails if anything that was tried did. Its log: $work/RELEASE.log.
try_release() {
  local log=$work/$1.log prefix="" key
  cell=([accounts]=- [builds]=no [unit]=- [loads]=- [orders]=- [ledger]=- [site_factor]=-)
  : >"$log"
  { install_if_asked "$1" && configure "$1" && cmake --build "$work/$1" --target priority_shapley site_factor_shapley; } >>"$log" 2>&1 || return 1
  cell[builds]=yes
  cmake --build "$work/$1" --target "${unit_programs[@]}" -- -k 0 >>"$log" 2>&1
  cell[unit]=$(passed "$1" "^($(IFS='|'; echo "${unit_tests[*]}"))\$")
  [ -z "$prefix" ] || [ "$clusters" = no ] || on_a_cluster "$1"
  for key in "${!cell[@]}"; do cell_is_good "${cell[$key]}" || return 1; done
}

# install_if_asked RELEASE: sets `prefix` if it is installed, or with --run was built.
install_if_asked() {
  prefix=$(prefix_of "$1") && return
  [ "$may_build" = yes ] || return 0
  install_slurm "$1" && prefix=$(prefix_of "$1")
}

# configure RELEASE: as the preset `dev`, warnings being errors.
configure() {
  local tree options=()
  [ -n "$prefix" ] || build_library "$1" || return 1
  tree=$(configured_tree "$1" "$prefix") || return 1
  [ -z "$tree" ] || options+=(-DSLURM_SOURCE_DIR="$tree")
  options+=(-DSHAPLEY_UNTESTED_SLURM=ON -DSHAPLEY_SLURMCTLD="$([ -n "$prefix" ] && echo "$prefix/sbin/slurmctld" || echo none)")
  if [ -z "$prefix" ]; then
    options+=(-DSLURM_PLUGIN_DIR="$tree/library")
  elif [ -e "$prefix/lib/slurm/libslurmfull.so" ]; then
    options+=(-DSLURM_PLUGIN_DIR="$prefix/lib/slurm")
  fi
  (cd "$root" && cmake --preset dev -B "$work/$1" "${options[@]}")
}

# on_a_cluster RELEASE: the programs are those of build/dev; they know nothing of Slurm.
on_a_cluster() {
  local program priority accounts
  for program in shapleyd shapleyctl shapley-sim cutting_proxy; do ln -sf "../../../dev/bin/$program" "$work/$1/bin/$program"; done
  local -x SHAPLEY_SLURM_PREFIX=$prefix
  cell[loads]=no cell[orders]=no cell[ledger]=no cell[site_factor]=no
  for priority in priority/shapley site_factor/shapley; do
    accounts=$(SHAPLEY_BUILD=$work/$1 "$here/loads" "$priority" "$1" 2>>"$log") || return 0
  done
  cell[accounts]=$accounts cell[loads]=yes
  cell[orders]=$(passed "$1" '^e2e_(start_order|serving_[a-z]+|own_order)\.')
  cell[ledger]=$(passed "$1" '^(e2e_(books|control|failures)\.|e2e_faults\.seed_4$)')
  cell[site_factor]=$(passed "$1" '^e2e_site_factor\.')
}

# passed RELEASE PATTERN: "N of M" of the tests whose names match. They mostly wait, so several run at once.
passed() {
  local counts bad all
  counts=$(ctest --test-dir "$work/$1" -R "$2" -j "$((4 * $(nproc)))" --output-on-failure 2>&1 | tee -a "$log" |
    sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p')
  read -r bad all <<<"$counts"
  if [ -n "$all" ]; then echo "$((all - bad)) of $all"; else echo no; fi
}

# cell_is_good TEXT: nothing in it failed.
cell_is_good() { [[ $1 != no ]] && { [[ ! $1 =~ ^([0-9]+)\ of\ ([0-9]+)$ ]] || [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]; }; }
