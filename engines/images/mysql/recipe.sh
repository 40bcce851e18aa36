# Read by ../build.sh: where MySQL comes from, and how its data directory is baked.
# shellcheck shell=bash disable=SC2034,SC2154 # the variables are build.sh's
suites="9.7=sid"
port=3306
volume=/var/lib/leaseproof

packages() { echo mysql-server-core; }

initialise() {
  chroot "$root" getent passwd mysql > /dev/null \
    || { echo 'mysql:x:999:999::/nonexistent:/bin/false' >> "$root/etc/passwd"; echo 'mysql:x:999:' >> "$root/etc/group"; }
  install -d -m 0750 -o 999 -g 999 "$root$volume"
  # A small log while baking keeps the image small; the server grows it to its default at start.
  chroot "$root" /usr/sbin/mysqld --no-defaults --initialize-insecure --user=mysql \
    --datadir="$volume/data" --innodb-redo-log-capacity=8M
  # Offline tools and the Perl that only they need are a third of the image.
  rm -rf "$root"/usr/share/perl "$root"/usr/lib/*/perl
  find "$root/usr/bin" "$root/usr/sbin" -type f -size +1M -name 'my*' ! -name mysqld -delete
  rm -f "$root/usr/bin/ibd2sdi" "$root/usr/bin/innochecksum" "$root/usr/bin/perror"
}
