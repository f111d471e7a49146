# slurmdbd on MariaDB for a private cluster, both its own. Sourced by cluster.bash, which starts and stops them when
# CLUSTER_DATABASE=yes: MariaDB and slurmdbd before slurmctld, with the accounts that database_accounts makes.

# What `sacctmgr` is to make before slurmctld starts: its commands, one a line. A tree of accounts, user daemon in every leaf; root,
# the user that srun and salloc run as, in two.
database_accounts() {
  cat <<'ACCOUNTS'
add cluster shapleytest
add account astro,bio,chem
add account stars parent=astro
add account pulsars parent=stars
add account cells parent=bio
add account acids parent=chem
add user daemon account=astro,bio,chem,stars,pulsars,cells,acids
add user root account=astro,bio
ACCOUNTS
}

# Which organization an account belongs to, for BOOKS_ORGANIZATIONS of books.bash: the tree above, a second time.
DATABASE_ORGANIZATIONS="stars=astro pulsars=astro cells=bio acids=chem"

database_conf() {
  cat <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort=$((CLUSTER_PORT + 31))
# Clients take slurmdbd's munge socket from here.
AccountingStoragePass=$CLUSTER_DIR/run/munge.socket
CONF
}

database_start() {
  local program missing=()
  for program in mariadbd mariadb-install-db slurmdbd sacctmgr; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  [ ${#missing[@]} -eq 0 ] || { say "missing programs: ${missing[*]}; install mariadb-server-core and slurmdbd"; return 1; }
  mkdir -p "$CLUSTER_DIR/mariadb" "$CLUSTER_DIR/mariadb-tmp"
  in_mariadb_tmp mariadb-install-db --no-defaults --user=root --datadir="$CLUSTER_DIR/mariadb" --auth-root-authentication-method=normal \
    --skip-test-db --force >"$CLUSTER_DIR/log/mariadb-install.out" 2>&1 || { tail -n 5 "$CLUSTER_DIR/log/mariadb-install.out" >&2; return 1; }
  _write_slurmdbd_conf
  mariadb_start && slurmdbd_start || return 1
  database_accounts | sacctmgr -i >"$CLUSTER_DIR/log/sacctmgr.out" 2>&1
  ! grep -q 'error:' "$CLUSTER_DIR/log/sacctmgr.out" || { tail -n 5 "$CLUSTER_DIR/log/sacctmgr.out" >&2; return 1; }
}
# mariadbd clears its folder of temporary files when it starts, those of a second one that is about to use them, too: each has its own.
in_mariadb_tmp() { TMPDIR=$CLUSTER_DIR/mariadb-tmp "$@"; }

mariadb_start() {
  local data=$CLUSTER_DIR/mariadb
  rm -f "$data/sock"  # of one that was killed
  in_mariadb_tmp daemon_start mariadb mariadbd --no-defaults --user=root --datadir="$data" --socket="$data/sock" --pid-file="$data/pid" \
    --skip-networking --innodb-buffer-pool-size=32M --innodb-flush-log-at-trx-commit=0 &&
    daemon_ready 30 mariadb test -S "$data/sock"
}
slurmdbd_start() {
  daemon_start slurmdbd env MYSQL_UNIX_PORT="$CLUSTER_DIR/mariadb/sock" slurmdbd -D && daemon_ready 30 slurmdbd sacctmgr -n -P list cluster
}

_write_slurmdbd_conf() {
  (umask 077 && cat >"$CLUSTER_DIR/slurmdbd.conf") <<CONF
AuthType=auth/munge
AuthInfo=socket=$CLUSTER_DIR/run/munge.socket
DbdHost=localhost
DbdPort=$((CLUSTER_PORT + 31))
SlurmUser=root
PidFile=$CLUSTER_DIR/run/slurmdbd-own.pid
LogFile=$CLUSTER_DIR/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
CONF
}

database_stop() { daemon_stop slurmdbd && daemon_stop mariadb; }

# save_usage: with slurmdbd slurmctld does not start again if it was killed before it saved for the first time what associations used: five minutes
# after its start, or when it ends. To be called before it is killed.
save_usage() { [ "$CLUSTER_DATABASE" = no ] || { ctld_restart && wait_until 30 nodes_ready; }; }
