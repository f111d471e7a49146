#!/usr/bin/env bats
# Levels in a real slurmctld, under either plugin: they order an organization's jobs and no job passes one of a better rank. A
# stand-in for shapleyd gives the ranks and levels, so that the test decides them.

load lib/e2e

# calm_daemon ORDER LEVELS: the stand-in; one that runs already is killed, as a restart of shapleyd would.
calm_daemon() {
  if daemon_runs calm; then daemon_kill9 calm; fi
  daemon_start calm restless_daemon "$SHAPLEY_SOCKET" good "$1" "$2"
}

waiting_order() { squeue -h -t PENDING -o '%Q %A' | sort -k1,1nr -k2,2n | awk '{ print $2 }' | tr '\n' ' '; }
waiting_order_is() { test "$(waiting_order)" = "$* "; }
each_has_its_own_place() { [ "$(squeue -h -t PENDING -o %Q | sort -u | wc -l)" -eq 4 ]; }
told() { grep -qx "$1" "$CLUSTER_DIR/log/calm.out"; }

# Two jobs of chem and two of astro wait; chem has the better rank.
four_jobs_wait() {
  cluster_prepare
  cluster_start
  close_queue
  a=$(submit chem "sleep 1") b=$(submit chem "sleep 1") c=$(submit astro "sleep 1") d=$(submit astro "sleep 1")
}

levels_act() {
  four_jobs_wait
  calm_daemon chem,astro,bio "$b=3,$d=15"
  wait_until 15 waiting_order_is "$b" "$a" "$d" "$c"
  [ "$(sprio -h -j "$d" -o %S)" -gt "$(sprio -h -j "$c" -o %S)" ]
  [ "$(sprio -h -j "$a" -o %S)" -gt "$(sprio -h -j "$d" -o %S)" ]  # the highest level below the last place of a better rank
  calm_daemon astro,chem,bio "$b=1,$d=2"
  wait_until 15 waiting_order_is "$d" "$c" "$b" "$a"
  # Without levels each organization's jobs are in Slurm's own order again, each in a place of its own.
  calm_daemon astro,chem,bio ""
  wait_until 15 waiting_order_is "$c" "$d" "$a" "$b"
  wait_until 15 each_has_its_own_place
}

@test "priority/shapley: levels order within the organization, follow a change and go" { levels_act; }

@test "site_factor/shapley: levels order within the organization, follow a change and go" {
  export CLUSTER_PRIORITY=site_factor/shapley
  levels_act
}

@test "jobs start in the order of ranks, then levels" {
  four_jobs_wait
  calm_daemon chem,astro,bio "$b=1,$c=1,$d=2"
  wait_until 15 waiting_order_is "$b" "$a" "$d" "$c"
  open_queue
  wait_drained 60
  [ "$(start_order | awk '{ print $2 }' | tr '\n' ' ')" = "$b $a $d $c " ]
}

@test "the plugin sends dependencies and time limits, and their changes" {
  four_jobs_wait
  calm_daemon chem,astro,bio ""
  e=$(submit bio --time=10 --dependency="afterany:$c:$a" "true")
  wait_until 15 told "job $e: depends on $a,$c; limit 600 s"
  scontrol update JobId="$e" TimeLimit=20
  wait_until 15 told "job $e: depends on $a,$c; limit 1200 s"
  scontrol update JobId="$e" Dependency="afterany:$b"
  wait_until 15 told "job $e: depends on $b; limit 1200 s"
  scancel "$b"
  wait_until 15 told "job $e: depends on ; limit 1200 s"  # Slurm empties the list
}
