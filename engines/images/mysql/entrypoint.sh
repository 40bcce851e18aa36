#!/bin/sh
# Starts MySQL with the official image's variables: MYSQL_ROOT_PASSWORD (required), MYSQL_DATABASE.
# The data directory is already there; an init file, run before any connection, adds the credentials.
set -eu
: "${MYSQL_ROOT_PASSWORD:?must be set}"
run=/var/run/mysqld
install -d -m 0755 -o mysql -g mysql "$run"

escaped() { printf '%s' "$1" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g"; }

(
  umask 077
  password=$(escaped "$MYSQL_ROOT_PASSWORD")
  {
    echo "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '$password';"
    echo "GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;"
    echo "ALTER USER 'root'@'localhost' IDENTIFIED BY '$password';"
    [ -z "${MYSQL_DATABASE:-}" ] || echo "CREATE DATABASE IF NOT EXISTS \`$MYSQL_DATABASE\`;"
  } > "$run/init.sql"
  chown mysql:mysql "$run/init.sql"
)
unset MYSQL_ROOT_PASSWORD
[ "${1:-}" != mysqld ] || shift
exec setpriv --reuid=mysql --regid=mysql --clear-groups /usr/sbin/mysqld --no-defaults \
  --datadir=/var/lib/leaseproof/data --socket="$run/mysqld.sock" --pid-file="$run/mysqld.pid" \
  --secure-file-priv= --mysqlx=OFF --skip-name-resolve --init-file="$run/init.sql" "$@"
