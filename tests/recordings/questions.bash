# What is asked of each ledger, by what the answers say. Sourced by `record`, in a folder with the ledger's file, ledger.db.
#
# An entry's name says what was asked, not by which command: where a command was moved, the program's own help decides which one is used.

# ask NAME ARGUMENTS...: what shapleyctl prints, and how it ends.
ask() {
  local name=$1 code=0
  shift
  env -i PATH="$PWD/nowhere" HOME="$PWD/nowhere" TZ=UTC LANG=C.UTF-8 COLUMNS=120 SHAPLEY_SOCKET="$socket" SHAPLEY_RECORDED_AT="$recorded_at" \
    LD_PRELOAD="$fixed_host" "$shapleyctl" "$@" >"$answers/$name" 2>&1 || code=$?
  [ "$code" = 0 ] || echo "exit $code" >>"$answers/$name"
}

# in_forms NAME "FORM..." ARGUMENTS...: the same in several forms; `text` is the one for people.
in_forms() {
  local name=$1 form
  local -a forms
  read -ra forms <<<"$2"
  shift 2
  for form in "${forms[@]}"; do
    case $form in
      text) ask "$name.text" "$@" ;;
      parsable) ask "$name.parsable" "$@" -P ;;
      *) ask "$name.$form" "$@" "--$form" ;;
    esac
  done
}

# knows COMMAND: whether shapleyctl has this command.
knows() { grep -qE "^  $1( |$)" "$folder/help"; }

# Two of them, organizations or jobs: why the one goes first, and what would turn them.
against() {
  local name=$1 a=$2 b=$3
  shift 3
  if knows compare; then
    in_forms "$name" "text json" compare "$a" "$b" "$@"
  else
    in_forms "$name" "text json" explain "$a" --against "$b" "$@"
  fi
}

# When the order of the organizations changes.
forecast() {
  local name=$1
  shift
  if knows forecast; then in_forms "$name" "text json" forecast "$@"; else in_forms "$name" "text json" status --forecast "$@"; fi
}

# page NAME ARGUMENTS...: every file that a report consists of; of an organization's own page the page, which has its tables, too.
page() {
  local name=$1 file
  shift
  ask "$name.printed" report -o "page" "$@"
  while IFS= read -r file; do mv "page/$file" "$answers/$name.${file//\//.}"; done < <(cd page 2>/dev/null && find . -type f -not -path './organizations/*.csv' | sed 's#^\./##')
  rm -rf page
}

# chain NAME FILE: the hash of every event, as plain SQL reads it.
chain() { sqlite3 "$2" 'SELECT seq, kind, lower(hex(hash)) FROM event_rows ORDER BY seq' >"$answers/$1.chain"; }

ask_status() {
  in_forms status "text json parsable long" status "${of[@]}"
  ask status.long.parsable status -l -P "${of[@]}"
  ask status.bare status -n -o "$status_columns" "${of[@]}"
  ask status.top.text status --top 1 "${of[@]}"
  ask status.one.json status -O "$a" --json "${of[@]}"
  ask status.by_hindsight.text status -l --contribution hindsight "${of[@]}"
  ask status.by_hindsight.json status --json --contribution hindsight "${of[@]}"
  in_forms status.at "text json" status --at "$at" "${of[@]}"
  in_forms worth "text json" status --worth "${of[@]}"
  ask worth.at.text status --worth --at "$at" "${of[@]}"
  in_forms users "text json parsable" status --users "${of[@]}"
  ask users.at.text status --users --at "$at" "${of[@]}"
}

ask_jobs() {
  local job
  in_forms jobs "text json parsable" jobs "${of[@]}"
  in_forms jobs.all "text json parsable" jobs -a "${of[@]}"
  ask jobs.since.text jobs -S "$since" "${of[@]}"
  ask jobs.one.text jobs -a -O "$a" -u 1001,1002 "${of[@]}"
  ask jobs.named.json jobs -j "${jobs// /,}" --json "${of[@]}"
  for job in $jobs; do
    in_forms "explain.$job" "text json" explain "$job" "${of[@]}"
    ask "explain.$job.at.text" explain "$job" --at "$at" "${of[@]}"
  done
  in_forms explain.submission "text json" explain --submit -A "$account" -n 3 "${of[@]}"
}

ask_ranks() {
  local first second
  against against "$a" "$b" "${of[@]}"
  against against.at "$b" "$a" --at "$at" "${of[@]}"
  read -r first second _ <<<"$jobs"
  against against.jobs "$first" "$second" "${of[@]}"
  forecast forecast "${of[@]}"
  forecast forecast.at --at "$at" "${of[@]}"
}

ask_intervals() {
  in_forms statement "text json csv all" statement "${of[@]}"
  in_forms statement.month "text json csv" statement --month "$month" "${of[@]}"
  in_forms statement.month.now "text json" statement --month "$month" --as-of now "${of[@]}"
  in_forms statement.between "text csv" statement -S "$since" -E "$at" --contribution hindsight "${of[@]}"
  ask statement.one.text statement -O "$b" --known-until "$now" "${of[@]}"
  in_forms history "text json csv parsable" history "${of[@]}"
  ask history.hours.text history --by hour "${of[@]}"
  ask history.minutes.csv history --by 10min -S "$since" -E "$at" --csv "${of[@]}"
  ask history.months.json history --by month -O "$a" --json "${of[@]}"
}

ask_pages() {
  page page --no-charts "${of[@]}"
  page page.month --no-charts --no-audit --users --month "$month" --title "Meeting of the members" "${of[@]}"
  page page.live --live --no-charts --no-audit --ledger ledger.db
}

ask_corrections() {
  local reason=(--reason "as agreed" --ledger ledger.db)
  in_forms adjustments "text json" adjust --list --ledger ledger.db
  in_forms adjust.job "text json" adjust --job "${jobs%% *}" --to "$b" "${reason[@]}"
  ask adjust.account.text adjust --account "$account" -S "$since" -E "$at" --to "$b" "${reason[@]}"
  ask adjust.user.json adjust --user 1001 -S "$since" -E "$at" --to "$a" --json "${reason[@]}"
  in_forms adjust.owners "text json" adjust --nodes n1 --owners "$b=50%" -S "$since" -E "$at" "${reason[@]}"
  in_forms adjust.amount "text json" adjust --amount 7200s --from "$a" --to "$b" --at "$at" "${reason[@]}"
  ask adjust.rename.text adjust --rename "$a" --to renamed "${reason[@]}"
  ask adjust.merge.text adjust --merge "$a" --to "$b" "${reason[@]}"
  ask adjust.reverse.text adjust --reverse 1 "${reason[@]}"
}

ask_files() {
  ask check_config check-config "$folder/site.yaml" --ledger ledger.db
  ask check_config.difference check-config "$folder/site.yaml" --ledger ledger.db --diff
  in_forms audit "text json" audit "${of[@]}"
  in_forms head "text json" audit --head --ledger ledger.db
  ask head.signed.json audit --head --ledger ledger.db --sign-with "$folder/key" --json
  ask head.signed.text audit --head --ledger ledger.db --sign-with "$folder/key"
  cp "$answers/head.signed.text" head
  ask audit.against_head.text audit --against-head head --public-key "$folder/key.pub" "${of[@]}"
  ask backup backup --ledger ledger.db copy.db
  ask restore restore --ledger restored.db copy.db
  ask compact compact copy.db
  chain copy copy.db
  ask archive archive restored.db --sign-with "$folder/key"
  chain archived restored.db
  in_forms archived.audit "text json" audit --ledger restored.db --archives archives
  ask archived.status.json status --json --ledger restored.db
  ask archived.statement.json statement --month "$month" --json --ledger restored.db
  chain ledger ledger.db
}

# about NOW A B ACCOUNT JOBS SINCE AT MONTH: at what time it is asked, of which organizations, account, jobs (two at least, separated by commas) and
# times.
about() {
  now=$1 a=$2 b=$3 account=$4 jobs=${5//,/ } since=$6 at=$7 month=$8
  recorded_at=$(date -ud "$now" +%s)
}

# What is asked of every ledger.
ask_all() {
  local of=(--ledger ledger.db)
  ask_status
  ask_jobs
  ask_ranks
  ask_intervals
  ask_pages
  ask_corrections
  ask_files
}

# Each organization's own page.
ask_own_pages() { page page.own --no-charts --no-audit --users --per-organization --month "$month" --ledger ledger.db; }

# With the archives in another folder, and without them.
ask_archives() {
  local of=(--ledger ledger.db --archives elsewhere)
  mv archives elsewhere
  ask elsewhere.status.json status --at "$at" --json "${of[@]}"
  ask elsewhere.explain.text explain "${jobs%% *}" --at "$at" "${of[@]}"
  ask elsewhere.statement.json statement --month "$month" --json "${of[@]}"
  ask elsewhere.history.csv history --by month -S "$since" --csv "${of[@]}"
  in_forms elsewhere.audit "text json" audit "${of[@]}"
  against elsewhere.against "$a" "$b" --at "$at" "${of[@]}"
  forecast elsewhere.forecast --at "$at" "${of[@]}"
  ask without.status.text status --at "$at" --ledger ledger.db
  ask without.statement.text statement --month "$month" --ledger ledger.db
  ask without.audit.text audit --ledger ledger.db
  mv elsewhere archives
}

# A year of sacct's rows, of which the recorded ledger was made.
ask_import() {
  local from=(--sacct year.txt --config shapleyd.yaml --nodes nodes.txt)
  in_forms audit.against "text json" audit --ledger ledger.db --against year.txt
  ask import import "${from[@]}" --ledger new.db
  chain import new.db
  ask import.again import "${from[@]}" --into new.db --reason "once more" --json
  { head -n 200 year.txt && tail -n 200 year.txt; } >part.txt
  ask import.part import --sacct part.txt --config shapleyd.yaml --nodes nodes.txt --ledger part.db --json
  ask import.rest import "${from[@]}" --into part.db --reason "the rest"
  chain import.rest part.db
  ask import.rest.status.text status --ledger part.db
  ask import.rest.audit.text audit --ledger part.db --against year.txt
  rm new.db part.db
}

# Two clusters of one consortium.
ask_consortium() {
  local of=(--consortium north.db --consortium south.db)
  in_forms consortium.statement "text json csv" statement "${of[@]}"
  ask consortium.statement.month.text statement --month "$month" "${of[@]}"
  page consortium.page --no-charts --month "$month" "${of[@]}"
  ask consortium.audit.text audit --ledger north.db --consortium south.db --consortium-key south.pub
  ask consortium.audit.json audit --ledger south.db --consortium north.db --consortium-key north.pub --json
}

# begin_shapleyd YAML LEDGER [LINE...]: a shapleyd with this configuration, whose ledger is this file; it listens on `sock`, and its process is $pid.
# The configuration becomes an event, so it has the same paths wherever this folder is. hindsight takes the place of an estimator that there is no more.
begin_shapleyd() {
  local yaml=$1 file=/proc/self/cwd/$2
  shift 2
  { sed -E 's/^(contribution: *)shapley_rate\b/\1hindsight/' "$yaml" | grep -vE '^(ledger|socket|slurm_user|signing_key):' && printf '%s\n' "ledger: $file" "socket: /proc/self/cwd/sock" "slurm_user: root" "$@"; } >live.yaml
  chmod 644 live.yaml
  env -i PATH="$PWD/nowhere" TZ=UTC LANG=C.UTF-8 SHAPLEY_RECORDED_AT="$recorded_at" LD_PRELOAD="$fixed_host" "$shapleyd" --config live.yaml 2>live.log &
  pid=$!
}

# Waits until shapleyd has made its books and has done what it does each second at least once: a request that is answered a second after another one
# was finds the work of that second done, or just before it, and the next one finds it done.
await_shapleyd() {
  local answers=$PWD n
  while [ ! -S "$socket" ]; do
    kill -0 "$pid" || { cat live.log >&2 && return 1; }
    sleep 0.1
  done
  while ask awaited status --json && [ "$(jq -r '.daemon.rebuild' awaited)" != null ]; do sleep 0.2; done
  for n in 1 2; do
    sleep 1.1
    ask awaited status --json
  done
}

end_shapleyd() {
  kill "$pid"
  wait "$pid" || { cat live.log >&2 && return 1; }
}

# ask_live [YAML]: what shapleyd says of a copy of the ledger, with this configuration or that which was in force last, and what it adds to the copy.
ask_live() {
  local socket=sock pid
  cp ledger.db live.db
  chmod 600 live.db
  sqlite3 ledger.db "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'configuration_loaded' ORDER BY seq DESC LIMIT 1" >in_force.yaml
  cp "$folder/key" .
  begin_shapleyd "${1:-in_force.yaml}" live.db "signing_key: /proc/self/cwd/key"
  await_shapleyd
  in_forms live.status "text long parsable" status
  ask live.worth.text status --worth
  ask live.users.text status --users
  in_forms live.jobs "text json" jobs -a
  in_forms live.explain "text json" explain "${jobs%% *}"
  against live.against "$a" "$b"
  # The JSON is that of status, which has figures of the process.
  if knows forecast; then in_forms live.forecast "text json" forecast; else ask live.forecast.text status --forecast; fi
  in_forms live.statement "text json" statement --month "$month"
  ask live.history.csv history --csv
  in_forms live.workflows "text json long" workflows
  if [ "$ledger" = consortium ]; then ask live.standing standing; fi
  ask live.health health
  in_forms live.adjustments "text json" adjust --list
  page live.page --live --no-charts
  ask live.adjust.text adjust --amount 1h --from "$a" --to "$b" --at "$at" --reason "as agreed" --yes
  end_shapleyd
  chain live live.db
  ask live.audit.text audit --ledger live.db
}

# What the plugin sends of the recorded scans, and what shapleyd books of it.
ask_plugin() {
  local socket=sock pid
  recorded_at=1000060
  "$recorded_scans" "$answers"
  begin_shapleyd "$folder/site.yaml" ledger.db
  "$here/feed" "$socket" $(ls -v "$answers"/scan*)
  end_shapleyd
  chain events ledger.db
  sqlite3 ledger.db "SELECT seq, key, payload FROM events WHERE kind <> 'configuration_loaded' ORDER BY seq" >"$answers/events"
  in_forms status "text json" status --ledger ledger.db
  in_forms jobs "text json" jobs --ledger ledger.db -S 1970-01-01
  in_forms audit "text json" audit --ledger ledger.db
}

# ask_of LEDGER: all of one ledger, in the folder with what its archive of tests/recordings/ledgers has.
ask_of() {
  ledger=$1
  case $ledger in
    kinds) about 2026-11-21T12:00 physics biology physics 101,103,106 2026-10-31T21:00 2026-11-01T05:00 2026-11 ;;
    year) about 2026-07-09T12:00 astro bio astro 17,120,500 2025-06-01 2025-09-15T12:00 2025-08 ;;
    members) about 2026-12-05T00:10 physics biology physics 17,120,400 2026-11-10 2026-11-20 2026-11 ;;
    archived) about 2027-02-17T00:30 astro bio astro 440,500,660 2026-11-10 2027-01-20 2026-11 ;;
    demo) about 2026-12-01T02:05 astro bio astro 17,120,150 2026-11-30T22:30 2026-12-01T00:30 2026-11 ;;
    adjusted) about 2026-12-01T02:05 astro bio astro 17,120,160 2026-11-30T22:30 2026-12-01T00:30 2026-11 ;;
    late) about 2026-12-01T05:00 astro bio astro 17,120,5003 2026-11-30T22:30 2026-12-01T00:30 2026-11 ;;
    hindsight | billing) about 2026-12-01T01:05 astro bio astro 17,90,108 2026-11-30T22:30 2026-12-01T00:30 2026-11 ;;
    workflows) about 2026-12-01T00:05 astro bio astro 17,60,72 2026-11-30T22:30 2026-11-30T23:40 2026-11 ;;
    wrong_clock) about 2026-12-01T01:05 astro bio astro 17,60,105 2026-11-30T22:30 2026-12-01T00:30 2026-11 ;;
    controllers) about 2026-11-30T23:45 physics chemistry phys 5,20,30 2026-11-30T22:20 2026-11-30T23:30 2026-11 ;;
    consortium)
      cp north.db ledger.db
      about 2026-12-01T00:10 physics chemistry phys 5,20,40 2026-11-30T22:30 2026-11-30T23:50 2026-11
      ;;
    *)
      echo "questions.bash: what is asked of the ledger '$ledger'?" >&2
      return 1
      ;;
  esac
  ask_all
  case $ledger in
    demo | hindsight | billing | adjusted | workflows | wrong_clock) ask_live ;;
    controllers) ask_live "$folder/two.yaml" ;;
    consortium) ask_live north.yaml ;;
  esac
  case $ledger in
    year) ask_import ;;
    members | adjusted) ask_own_pages ;;
    archived) ask_archives ;;
    consortium) ask_consortium ;;
  esac
}
