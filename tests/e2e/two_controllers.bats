#!/usr/bin/env bats
# Two slurmctlds, each with a shapleyd beside it: after takeovers and returns under load both ledgers are one chain, and Slurm's records.

load lib/e2e
load lib/two_hosts

teardown() {
  local stopped=0
  two_hosts_stop || stopped=1
  end_cluster || stopped=1
  [ -z "${CLUSTER_DIR:-}" ] || tail -n 25 "$CLUSTER_DIR"/host[12]/slurmctld.log "$CLUSTER_DIR"/log/shapleyd[12].out 2>/dev/null
  return "$stopped"
}

# expect_both_correct MIN_RUNS ACTIVE: the chain is the same on both hosts, and each host's books are Slurm's records.
expect_both_correct() {
  local host
  wait_drained 90
  for host in "$2" $((3 - $2)); do
    use_host "$host"
    expect_books_correct "$1" || { say "the books of host $host"; return 1; }
  done
  wait_until 10 same_chain
}
beginnings() { ledger_sql "SELECT group_concat(json_extract(payload, '\$.host') || ' ' || json_extract(payload, '\$.peer'), ', ') FROM (SELECT * FROM events WHERE kind = 'controller_began' ORDER BY seq)"; }

# order_at N REASON: a second of work is booked at host N.
order_at() { shapleyctl --socket "$CLUSTER_DIR/host$1/shapleyd.sock" adjust --amount 1s --from astro --to bio --at "$(date -u +%FT%TZ)" --reason "$2" --yes; }
orders_in() { use_host "$1" && ledger_sql "SELECT count(*) FROM events WHERE kind = 'adjustment_made' AND json_extract(payload, '\$.reason') LIKE 'order %'"; }

# orders_outlive_kills N: shapleyd of host 1 is killed right after each of N answers, and host 2 has what was answered. Host 2 takes none itself.
orders_outlive_kills() {
  local i answer
  for ((i = 1; i <= $1; i++)); do
    wait_until 15 standby_is 2
    wait_until 15 pair_is 1 .in_step true
    answer=$(order_at 1 "order $i")
    daemon_kill9 shapleyd1
    [[ $answer != *"only this host has it"* ]] || { say "order $i did not wait for the standby"; return 1; }
    [ "$(orders_in 2)" -eq "$i" ] || { say "host 2 lacks order $i"; return 1; }
    shapleyd_start_on 1
    wait_until 30 primary_is 1
  done
  wait_until 15 standby_is 2
  run order_at 2 "order at the standby"
  [ "$status" -ne 0 ]
  [[ $output == *"this one of two controllers does not write"* ]]
}

ended_in_books_of() { use_host "$1" && [ "$(ledger_sql "SELECT COUNT(*) FROM segments WHERE kind = 'run' AND job = $2 AND end IS NOT NULL")" -gt 0 ]; }
health_of() { shapleyctl --socket "$CLUSTER_DIR/host$1/shapleyd.sock" health || true; }
health_says() { health_of "$1" | grep -q "$2"; }

@test "a takeover by scontrol, and the return of the primary, under load" {
  two_hosts_start
  wait_until 15 standby_is 2
  wait_until 15 pair_is 1 .in_step true
  plain_load 9
  between_launches scontrol takeover
  wait_until 60 primary_is 2
  # One that is no backup any more ends.
  wait_until 30 daemon_gone slurmctld1
  wait_until 15 standby_is 1
  open_queue
  plain_load 9
  between_launches ctld_start_on 1
  wait_until 60 primary_is 1
  wait_until 15 standby_is 2
  open_queue
  plain_load 9
  # As for an upgrade: the standby is restarted, then the one that writes, which goes on.
  daemon_stop shapleyd2
  shapleyd_start_on 2
  wait_until 15 standby_is 2
  daemon_stop shapleyd1
  shapleyd_start_on 1
  wait_until 30 primary_is 1
  wait_until 15 standby_is 2
  plain_load 3
  expect_both_correct 27 1
  [ "$(beginnings)" = "ctl1 answered, ctl2 answered, ctl1 answered, ctl1 answered" ]
  # Nothing had to be set aside.
  pair_is 1 '.set_aside | length' 0
  pair_is 2 '.set_aside | length' 0
}

@test "the primary's host dies with events that the standby lacks, or that has an empty ledger; orders wait for the standby as a plugin's messages do" {
  two_hosts_start
  orders_outlive_kills 4
  load_across_a_kill
  # From here on the standby copies nothing. What ends now is in one ledger only; nothing begins that Slurm could forget.
  wait_until 15 standby_is 2
  daemon_signal shapleyd2 STOP
  close_queue
  ended=$(squeue -h -t RUNNING -A chem -o %A)
  scancel "$ended"
  wait_until 20 ended_in_books_of 1 "$ended"
  wait_until 10 pair_is 1 .in_step false
  order_at 1 "order alone" | grep -q "only this host has it"
  next_save && next_save
  daemon_kill9 slurmctld1
  daemon_kill9 shapleyd1
  daemon_signal shapleyd2 CONT
  wait_until 60 primary_is 2
  tell kill
  open_queue
  plain_load 9
  # What only the dead one had recorded came from Slurm's records again.
  wait_until 20 ended_in_books_of 2 "$ended"
  # The host is back: its ledger has events that no other one has. It is kept, and compared. Absent is what Slurm forgot: a job that came after its last save.
  shapleyd_start_on 1
  wait_until 30 standby_is 1
  wait_until 30 pair_is 1 '.set_aside[0] | .absent != null and .absent < .events' true
  test -e "$(pair_of 1 '.set_aside[0].file')"
  # A new disk, and the one that has the books is away: the plugin is refused, and spools.
  daemon_stop shapleyd1
  rm -r "$CLUSTER_DIR"/host1/books/ledger.db*
  daemon_stop shapleyd2
  shapleyd_start_on 1
  ctld_start_on 1
  wait_until 60 health_says 1 "CRITICAL: .*shapleyctl begin"
  pair_is 1 .role standby
  shapleyd_start_on 2
  wait_until 60 primary_is 1
  pair_is 1 '.set_aside | length' 0
  plain_load 6
  expect_both_correct 20 1
}

@test "over TCP the standby follows and takes over; two primaries are critical" {
  TWO_HOSTS_OVER=tcp
  two_hosts_start
  plain_load 6
  between_launches scontrol takeover
  wait_until 60 primary_is 2
  wait_until 15 standby_is 1
  open_queue
  plain_load 6
  expect_both_correct 10 2
  pair_is 1 '.set_aside | length' 0

  wait_until 15 pair_is 1 '.peer_answers' true
  ctld_start_on 1
  wait_until 60 primary_is 1
  wait_until 15 standby_is 2
  # A slurmd that is still about to register would not end.
  wait_until 30 nodes_ready

  # Slurm's own split brain.
  daemon_stop slurmctld2
  second_primary_start
  wait_until 60 pair_is 2 .role active
  pair_is 1 .role active
  wait_until 15 health_says 1 "CRITICAL: .*both slurmctlds are primary"
  wait_until 15 health_says 2 "CRITICAL: .*both slurmctlds are primary"
  daemon_stop slurmctld2
  plain_load 3
  wait_until 30 pair_is 2 '.set_aside | length' 1
  wait_until 30 standby_is 2
  pair_is 1 '.set_aside | length' 0
  wait_drained 60
  wait_until 10 same_chain
}
