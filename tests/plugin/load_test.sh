#!/usr/bin/env bash
# The built plugin exports what slurmctld looks up and nothing else, leaves open only what slurmctld alone has, needs no C++
# runtime, and loads in a process that is not slurmctld.
# Usage: load_test.sh PLUGIN HOST STOCK_PLUGIN_DIR
set -euo pipefail
plugin=$1 host=$2 stock=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "load_test: $*" >&2; exit 1; }

case $(basename "$plugin") in
  priority_shapley.so) symbols="priority_p_calc_fs_factor priority_p_get_priority_factors_list priority_p_job_end \
priority_p_recover priority_p_reconfig priority_p_set priority_p_set_assoc_usage priority_p_thread_start" ;;
  site_factor_shapley.so) symbols="site_factor_p_reconfig site_factor_p_set site_factor_p_update" ;;
  *) fail "unknown plugin $plugin" ;;
esac
expected=$(tr ' ' '\n' <<< "fini init plugin_name plugin_type plugin_version $symbols" | LC_ALL=C sort | xargs)
exported=$(nm -D --defined-only "$plugin" | awk '{print $3}' | LC_ALL=C sort | xargs)
[[ $exported == "$expected" ]] || fail "exports '$exported', expected '$expected'"

# Weak ones may be missing: in other programs than slurmctld, or in other releases. slurm_compat.h names them, of every release,
# and init() checks each.
weak=$(nm -D --undefined-only "$plugin" | awk '$1 == "w" || $1 == "v" {print $2}' | grep -vE '^(_ITM_|_ZGT|__)' | LC_ALL=C sort | xargs)
checked=$(sed -nE 's/^#pragma weak ([a-z_]+)$/\1/p' "$(dirname "$0")/../../plugin/slurm/slurm_compat.h" | LC_ALL=C sort | xargs)
for symbol in $weak; do [[ " $checked " == *" $symbol "* ]] || fail "init() does not check the weak symbol $symbol"; done
for symbol in $checked; do
  ! grep -qx " *U $symbol" <<<"$(nm -D --undefined-only "$plugin")" || fail "$symbol is not weak in the plugin"
done
[[ $(wc -w <<< "$weak") -ge 9 ]] || fail "only these symbols are weak: '$weak'"

needed=$(readelf -d "$plugin" | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' | xargs)
[[ $needed != *stdc++* && $needed != *gcc_s* ]] || fail "needs a C++ runtime beside slurmctld: $needed"

# The rest is about a priority plugin in sshare; only slurmctld's multifactor loads a site factor plugin.
[[ $(basename "$plugin") == priority_shapley.so ]] || { echo "load_test: $(wc -w <<< "$exported") symbols exported"; exit 0; }

write_conf() {
  printf '%s\n' ClusterName=test "SlurmctldHost=localhost(127.0.0.1)" "PluginDir=${plugin_dir:-$(dirname "$plugin")}:$stock" \
    PriorityType=priority/shapley "$@" "NodeName=n1 NodeAddr=127.0.0.1" "PartitionName=p Nodes=n1" > "$work/slurm.conf"
}

run() { LD_PRELOAD=$stock/libslurmfull.so "$host" "$work/slurm.conf" "$1" > "$work/log" 2>&1; }

write_conf "PriorityParameters=no_such_option=1"  # sshare must not care: options are slurmctld's
run sshare || { cat "$work/log"; fail "does not load as in sshare"; }

plugin_dir=$work write_conf
run sshare && fail "the host does not notice that the plugin is missing"

write_conf
run slurmctld || { cat "$work/log"; fail "does not refuse a slurmctld without its symbols"; }
grep -q 'priority/shapley: this slurmctld has no symbol' "$work/log" || { cat "$work/log"; fail "the refusal does not say why"; }
echo "load_test: $(wc -w <<< "$exported") symbols exported, loads and unloads, refuses a foreign slurmctld"
