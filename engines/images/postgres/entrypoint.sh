#!/bin/sh
# Starts PostgreSQL with the official image's variables: POSTGRES_PASSWORD (required), POSTGRES_USER,
# POSTGRES_DB. The data directory is already there; one single-user start adds the credentials.
set -eu
: "${POSTGRES_PASSWORD:?must be set}"
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}
data=/var/lib/leaseproof/data
bin=/usr/lib/postgresql/$LEASEPROOF_VERSION/bin

install -d -m 2775 -o postgres -g postgres /var/run/postgresql
as_postgres="setpriv --reuid=postgres --regid=postgres --clear-groups"

quoted() { # DELIMITER TEXT: quotes a name or a literal for SQL
  printf '%s' "$1"
  printf '%s' "$2" | sed "s/$1/$1$1/g"
  printf '%s' "$1"
}

if [ ! -e "$data/leaseproof.ready" ]; then
  {
    [ "$user" = postgres ] || echo "CREATE ROLE $(quoted '"' "$user") SUPERUSER LOGIN;"
    echo "ALTER ROLE $(quoted '"' "$user") PASSWORD $(quoted "'" "$POSTGRES_PASSWORD");"
    [ "$database" = postgres ] || echo "CREATE DATABASE $(quoted '"' "$database");"
  } | $as_postgres "$bin/postgres" --single -D "$data" postgres > /dev/null
  $as_postgres touch "$data/leaseproof.ready"
fi
unset POSTGRES_PASSWORD
[ "${1:-}" != postgres ] || shift
exec $as_postgres "$bin/postgres" -D "$data" "$@"
