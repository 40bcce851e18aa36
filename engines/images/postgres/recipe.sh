# Read by ../build.sh: where each PostgreSQL comes from, and how its data directory is baked.
# shellcheck shell=bash disable=SC2034,SC2154 # the variables are build.sh's
suites="13=bullseye 15=bookworm 17=trixie 18=sid 19=experimental"
port=5432
volume=/var/lib/leaseproof

packages() {
  case $version in
    19) echo "postgresql-19,libpq5" ;; # the library must come from the same, incomplete suite
    *) echo "postgresql-$version" ;;
  esac
}

initialise() {
  local bin=/usr/lib/postgresql/$version/bin data=$volume/data
  # Compiled expressions play no part in leases, and the compiler is a third of the image; without
  # it the server runs with plain interpretation.
  rm -rf "$root/usr/lib/postgresql/$version/lib/bitcode" "$root/usr/lib/postgresql/$version/lib/llvmjit"*
  rm -f "$root"/usr/lib/*/libLLVM* "$root"/usr/lib/*/libz3.so*
  rm -rf "$root/var/lib/postgresql/$version/main"
  install -d -m 0700 -o "$(chroot "$root" id -u postgres)" -g "$(chroot "$root" id -g postgres)" "$root$volume"
  chroot "$root" setpriv --reuid=postgres --regid=postgres --clear-groups \
    "$bin/initdb" -D "$data" --username=postgres --encoding=UTF8 --locale=C.UTF-8 \
    --auth-local=trust --auth-host=scram-sha-256 --no-sync > /dev/null
  # initdb runs where there may be no /dev/shm and settles for less; a container has one.
  printf '%s\n' "listen_addresses = '*'" "dynamic_shared_memory_type = posix" >> "$root$data/postgresql.conf"
  echo "host all all all scram-sha-256" >> "$root$data/pg_hba.conf"
}
