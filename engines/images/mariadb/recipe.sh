# Read by ../build.sh: where each MariaDB comes from, and how its data directory is baked.
# shellcheck shell=bash disable=SC2034,SC2154 # the variables are build.sh's
suites="10.5=bullseye 10.11=bookworm 11.8=trixie"
port=3306
volume=/var/lib/leaseproof

packages() {
  case $version in
    10.5) echo mariadb-server-core-10.5 ;;
    *) echo mariadb-server-core ;;
  esac
}

initialise() {
  chroot "$root" getent passwd mysql > /dev/null \
    || { echo 'mysql:x:999:999::/nonexistent:/bin/false' >> "$root/etc/passwd"; echo 'mysql:x:999:' >> "$root/etc/group"; }
  install -d -m 0750 -o 999 -g 999 "$root$volume"
  # The script insists on a reader of option files that another package holds; there are none here.
  local stub=$root/usr/bin/my_print_defaults
  [ -e "$stub" ] || { printf '#!/bin/sh\n' > "$stub" && chmod 0755 "$stub" && local stubbed=$stub; }
  # A small log while baking keeps the image small; the server makes a new one at start.
  chroot "$root" /usr/bin/mariadb-install-db --no-defaults --user=mysql --datadir="$volume/data" \
    --auth-root-authentication-method=normal --skip-test-db --force --innodb-log-file-size=4M
  rm -f "${stubbed:-}"
}
