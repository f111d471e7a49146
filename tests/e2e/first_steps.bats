#!/usr/bin/env bats
# A site's first steps: a configuration from what Slurm knows, checked against it; a reload that is refused; a plugin that is away.

load lib/e2e

told() { status_json | jq -r "$1"; }
told_is() { test "$(told "$1")" = "$2"; }

@test "init proposes a configuration from slurmdbd and the partitions, check-config compares it with Slurm, and shapleyd takes it" {
  CLUSTER_DATABASE=yes
  cluster_prepare
  printf '%s\n' "PartitionName=astro Nodes=n[1-2] AllowAccounts=astro,stars MaxTime=INFINITE State=UP" \
    "PartitionName=bio Nodes=n3 MaxTime=INFINITE State=UP" >>"$SLURM_CONF"
  cluster_start

  run shapleyctl init -o "$CLUSTER_DIR/first.yaml"
  [ "$status" -eq 0 ]
  before=$(sha256sum "$CLUSTER_DIR/first.yaml")
  run shapleyctl init -o "$CLUSTER_DIR/first.yaml"
  [ "$status" -eq 5 ]
  [[ $output == *"exists already"* ]]
  [ "$(sha256sum "$CLUSTER_DIR/first.yaml")" = "$before" ]
  diff <(shapleyctl init) "$CLUSTER_DIR/first.yaml"

  run shapleyctl check-config --against-slurm "$CLUSTER_DIR/first.yaml"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"no fault: 3 organizations, 3 rules, 3 nodes with owners"* ]]
  [[ $output == *"credited to commons: n4"* ]]
  [[ $output == *"Slurm knows every name in it"* ]]
  shapleyd --check-config --config "$CLUSTER_DIR/first.yaml"

  # What Slurm does not know is listed.
  sed 's/"bio"/"byo"/g; s/"n3"/"nn99"/' "$CLUSTER_DIR/first.yaml" >"$CLUSTER_DIR/wrong.yaml"
  run shapleyctl check-config --against-slurm "$CLUSTER_DIR/wrong.yaml"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"account 'byo' is unknown to Slurm"* && $output == *"node nn99 is unknown to Slurm"* ]]

  { printf 'ledger: %s\nsocket: %s\n' "$CLUSTER_LEDGER" "$SHAPLEY_SOCKET" && cat "$CLUSTER_DIR/first.yaml"; } >"$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_start
  wait_until 15 plugin_connected
  told_is .daemon.mode observe
  wait_until 15 told_is '.organizations[] | select(.name == "astro") | .owned' 32
  told_is '[.organizations[].name] | sort | join(" ")' "astro bio chem commons guests"
  run shapleyctl check-config --diff "$CLUSTER_DIR/shapleyd.yaml"
  [[ $output == *"changes nothing of what is in force"* ]]
  sed '/^ledger:/d; /^socket:/d; s/^mode: .*/mode: priorities/; s/"n3"/"n[3-4]"/' "$CLUSTER_DIR/shapleyd.yaml" >"$CLUSTER_DIR/next.yaml"
  { printf 'ledger: %s\nsocket: %s\n' "$CLUSTER_LEDGER" "$SHAPLEY_SOCKET" && cat "$CLUSTER_DIR/next.yaml"; } >"$CLUSTER_DIR/next-whole.yaml"
  run shapleyctl check-config --diff "$CLUSTER_DIR/next-whole.yaml"
  echo "$output"
  [[ $output == *"key mode: observe -> priorities"* && $output == *"nodes n4: commons -> bio"* ]]
}

@test "a reload that is refused is seen in status, until one succeeds" {
  start_with
  in_force=$(sha256sum <"$CLUSTER_DIR/shapleyd.yaml" | cut -d ' ' -f 1)
  told_is .daemon.configuration.hash "$in_force"
  told_is .daemon.configuration.refusal null
  cp "$CLUSTER_DIR/shapleyd.yaml" "$CLUSTER_DIR/sound.yaml"
  printf 'organisations: []\n' >>"$CLUSTER_DIR/shapleyd.yaml"
  # What the unit's ExecReload does first.
  run shapleyd --check-config --config "$CLUSTER_DIR/shapleyd.yaml"
  [ "$status" -eq 1 ]
  shapleyd_reload
  wait_until 10 told_is '.daemon.configuration.refused_at != null' true
  told_is .daemon.configuration.hash "$in_force"
  run shapleyctl status
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"Config:  $CLUSTER_DIR/shapleyd.yaml, SHA-256 ${in_force:0:16}..., in force since"* ]]
  [[ $output == *"Config:  REFUSED at "*"organisations"*"; the one above stays in force"* ]]
  cp "$CLUSTER_DIR/sound.yaml" "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 10 told_is .daemon.configuration.refused_at null
}

@test "a plugin that was away leaves a gap on record, and the runs that slurmctld's records imply are counted as lost" {
  start_with
  before=$(submit bio -n2 "$(until_told before)")
  wait_until 20 booked "$before"
  lose_a_run
  wait_until 30 told_is .daemon.gaps.count 1
  told_is .daemon.gaps.last_cause unobserved
  wait_until 30 told_is .daemon.lost_runs 1
  (($(told .daemon.gaps.seconds) >= 20 && $(told .daemon.gaps.unobserved_seconds) >= 20))
  (($(told .daemon.gaps.last_end) - $(told .daemon.gaps.last_begin) == $(told .daemon.gaps.seconds)))
  run shapleyctl status
  echo "$output"
  [[ $output == *"Gaps:    1 gap of observation"*"while slurmctld ran without the plugin"* ]]
  [[ $output == *"Lost:    1 run"* ]]
  wait_until 30 nodes_ready
  open_queue
  tell before
  scancel "$lost"
  wait_drained 60
  wait_until 20 nothing_open "$before"
  # The audit explains what is missing.
  wait_until 20 audit_agrees || { cat "$CLUSTER_DIR/audit.txt"; false; }
  grep "1 recorded run.*gap of observation" "$CLUSTER_DIR/audit.txt"
  [ "$(ledger_sql "SELECT cause FROM observation_gaps")" = unobserved ]

  # slurmctld alone goes down: nothing can be missing. shapleyd remembers both.
  between_launches ctld_stop
  wait_until 10 seconds_passed 4
  ctld_start
  wait_until 30 plugin_connected
  wait_until 30 told_is .daemon.gaps.count 2
  told_is .daemon.gaps.last_cause slurmctld_down
  shapleyd_restart
  wait_until 30 plugin_connected
  told_is .daemon.gaps.count 2
}

# As docs/operating/moving.md says it; the other host is another folder.
@test "the books move to another host while slurmctld is down, and nothing is missing" {
  start_with
  plain_load 6
  wait_drained 60
  job=$(submit bio -n4 "$(until_told moved)")
  wait_until 20 booked "$job"
  between_launches ctld_stop
  shapleyd_stop
  copied=$(shapleyctl backup --ledger "$CLUSTER_LEDGER" "$CLUSTER_DIR/copy.db")
  mkdir -m 0700 "$CLUSTER_DIR/new-host"
  restored=$(shapleyctl restore --ledger "$CLUSTER_DIR/new-host/ledger.db" "$CLUSTER_DIR/copy.db")
  [ "${copied##*hash is }" = "${restored##*hash is }" ]
  sed -i "s|^ledger: .*|ledger: $CLUSTER_DIR/new-host/ledger.db|" "$CLUSTER_DIR/shapleyd.yaml"
  run shapleyctl check-config --diff --ledger "$CLUSTER_DIR/copy.db" "$CLUSTER_DIR/shapleyd.yaml"
  echo "$output"
  [ "$(grep -c '^  ' <<<"$output")" -eq 1 ]
  [[ $output == *"key ledger: $CLUSTER_LEDGER -> $CLUSTER_DIR/new-host/ledger.db"* ]]
  rm "$CLUSTER_LEDGER"
  CLUSTER_LEDGER=$CLUSTER_DIR/new-host/ledger.db
  shapleyd_start
  tell moved
  wait_until 10 seconds_passed 4
  ctld_start
  wait_until 30 plugin_connected
  wait_until 30 nodes_ready
  open_queue
  plain_load 4
  wait_drained 60
  wait_until 20 told_is .daemon.gaps.last_cause slurmctld_down
  told_is .daemon.lost_runs 0
  # The copy carries that it lacks nothing.
  [ "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'observation_gap' AND payload LIKE '%events_lost%'")" -eq 0 ]
  expect_books_correct 10
}
