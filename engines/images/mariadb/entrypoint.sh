#!/bin/sh
# Starts MariaDB with the official image's variables: MARIADB_ROOT_PASSWORD (required), MARIADB_DATABASE.
# The data directory is already there; an init file, run before any connection, adds the credentials.
set -eu
: "${MARIADB_ROOT_PASSWORD:?must be set}"
run=/var/run/mysqld
install -d -m 0755 -o mysql -g mysql "$run"

escaped() { printf '%s' "$1" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g"; }

(
  umask 077
  password=$(escaped "$MARIADB_ROOT_PASSWORD")
  {
    echo "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '$password';"
    echo "GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;"
    echo "DROP USER IF EXISTS 'root'@'127.0.0.1', 'root'@'::1';" # made without a password
    echo "ALTER USER 'root'@'localhost' IDENTIFIED BY '$password';"
    [ -z "${MARIADB_DATABASE:-}" ] || echo "CREATE DATABASE IF NOT EXISTS \`$MARIADB_DATABASE\`;"
  } > "$run/init.sql"
  chown mysql:mysql "$run/init.sql"
)
unset MARIADB_ROOT_PASSWORD
[ "${1:-}" != mariadbd ] || shift
exec setpriv --reuid=mysql --regid=mysql --clear-groups /usr/sbin/mariadbd --no-defaults \
  --datadir=/var/lib/leaseproof/data --socket="$run/mysqld.sock" --pid-file="$run/mysqld.pid" \
  --secure-file-priv= --skip-name-resolve --init-file="$run/init.sql" "$@"
