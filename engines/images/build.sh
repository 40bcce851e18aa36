#!/usr/bin/env bash
# Builds the local image `leaseproof/ENGINE:VERSION` from Debian packages, where no registry can be
# reached. Usage: build.sh ENGINE VERSION
#
# Progress goes to stdout, one line a step. The last line of stderr says why it failed and what to
# do. Exit status: 0 built or already there · 2 usage · 3 this machine cannot build · 4 failed.
# An image that is there is kept; `docker rmi leaseproof/ENGINE:VERSION` before it makes a new one.
# The tag is set only when everything succeeded, and nothing is left behind on failure or interrupt.
# Needs root, apt and a Docker client; `mmdebstrap` is fetched for the moment when it is missing.
set -Eeuo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() { # STATUS REASON
  printf 'build.sh: %s\n' "$2" >&2
  exit "$1"
}

say() { printf '%s\n' "$*"; }

suites='' port='' volume=''
load_recipe() { # ENGINE: sets suites, port, volume; defines packages, initialise
  case $1 in '' | *[!a-z0-9]*) fail 2 "\`$1\` is not an engine name" ;; esac
  [ -r "$here/$1/recipe.sh" ] || fail 2 "no recipe for \`$1\`: see the folders beside build.sh"
  # shellcheck source=/dev/null
  . "$here/$1/recipe.sh"
}

suite_of() { # VERSION: prints the Debian suite that holds it
  local pair
  for pair in $suites; do
    [ "${pair%%=*}" = "$1" ] && say "${pair#*=}" && return
  done
  return 1
}

# Runs inside mmdebstrap, with the new root mounted, so that the server's own tools can run in it.
if [ "${1:-}" = --inside ]; then
  engine=$2 version=$3 work=$4 root=$5
  load_recipe "$engine"
  install -m 0755 "$here/$engine/entrypoint.sh" "$root/usr/local/bin/entrypoint.sh"
  initialise
  mkdir -p "$root/usr/share/leaseproof"
  # shellcheck disable=SC2016 # dpkg-query's own variables
  chroot "$root" dpkg-query -W -f '${Package}=${Version}\n' | tee "$work/packages" > "$root/usr/share/leaseproof/packages"
  rm -rf "$root"/var/log/*.log "$root"/var/cache/debconf/*-old "$root"/var/lib/dpkg/*-old
  exit
fi

[ $# -eq 2 ] || fail 2 "usage: build.sh ENGINE VERSION"
engine=$1 version=$2
load_recipe "$engine"
suite=$(suite_of "$version") || fail 2 "no Debian suite known for \`$engine:$version\`; known: $suites"
name=leaseproof/$engine:$version

command -v docker > /dev/null || fail 3 "the \`docker\` client is not installed: install it, or set a server's URL"
said=$(docker version 2>&1 > /dev/null) || fail 3 "the Docker engine does not answer (${said##*$'\n'}): start it, or set a server's URL"
[ "$(id -u)" -eq 0 ] || fail 3 "building \`$name\` needs root: run it as root once, or \`docker load\` the official image"
{ command -v apt-get && command -v dpkg-deb; } > /dev/null \
  || fail 3 "building \`$name\` needs apt: build it on a Debian-like machine, or \`docker load\` the official image"

# One builder per image and user; whoever waited finds the image and is done.
locks=${TMPDIR:-/tmp}/leaseproof-$(id -u)
{ mkdir -p "$locks" && chmod 0700 "$locks"; } || fail 3 "\`$locks\` cannot be made, or belongs to somebody else: set TMPDIR"
exec 9> "$locks/build-$engine-$version.lock"
flock -n 9 || { say "waiting for another build of $name" && flock 9; }
if docker image inspect "$name" > /dev/null 2>&1; then
  say "$name is already there"
  exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/leaseproof-build.XXXXXX")
chmod 0755 "$work" # apt drops to a user of its own that must get in
mkdir -m 1777 "$work/tmp"
image=
cleanup() {
  local status=$?
  trap - EXIT
  [ "$status" -eq 0 ] || [ -z "$image" ] || docker rmi -f "$image" > /dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

explain() { # STEP: turns the step's log into one reason
  if grep -q 'No space left on device' "$work/log"; then
    fail 4 "no space left on the disk of \`${TMPDIR:-/tmp}\` or of Docker: free 2 GiB, or set TMPDIR"
  fi
  grep -v -e '^[IW]: ' -e '^E: mmdebstrap failed' -e '^E: setup failed' "$work/log" | tail -n 12 >&2 || true
  fail 4 "$1 failed for \`$name\`; \`docker load\` the official image instead, or set a server's URL"
}

# Into a folder of its own with its own package lists, so that the machine itself is not changed.
fetch_mmdebstrap() {
  local lists=$work/apt
  mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
  local private=(-o "Dir::State::lists=$lists/lists" -o "Dir::Cache=$lists/cache" -o APT::Sandbox::User=root)
  say "fetching mmdebstrap (it is not installed here)"
  { apt-get "${private[@]}" update && cd "$work" && apt-get "${private[@]}" download mmdebstrap \
    && dpkg-deb -x mmdebstrap_*.deb "$work/tool"; } > "$work/log" 2>&1 || explain "fetching mmdebstrap"
  cd "$here"
  PATH=$work/tool/usr/bin:$PATH
}

bootstrap() {
  local options=(--variant=essential --format=directory) include
  include=$(packages)
  options+=(--customize-hook="bash '$here/build.sh' --inside '$engine' '$version' '$work' \"\$1\"")
  # A half-made image is thrown away, so nothing is gained by flushing each file to the disk.
  options+=(--dpkgopt=force-unsafe-io)
  local path
  for path in doc man info locale lintian linda bug; do
    options+=(--dpkgopt="path-exclude=/usr/share/$path/*")
  done
  case $suite in
    sid | experimental) options+=(--aptopt='Acquire::Check-Valid-Until "false"') ;;
  esac
  if [ "$suite" = experimental ]; then
    # shellcheck disable=SC2016 # the shell that runs the hook fills in its own
    # It only adds to sid, and only what is asked of it. The second source is derived from the first, whatever mirror that names.
    options+=(--setup-hook='sed -n "s/ sid / experimental /p" "$1/etc/apt/sources.list" > "$1/etc/apt/sources.list.d/experimental.list"')
    include=$(packages | sed "s@,\\|\$@/experimental&@g")
  fi
  # In a mount namespace of its own, so that a build that is killed leaves nothing mounted.
  TMPDIR=$work/tmp unshare --mount mmdebstrap "${options[@]}" "--include=$include" \
    "${suite/experimental/sid}" "$work/root" 2>&1 | tee "$work/log" \
    | sed -un '/^I: main()/d; s/^I: \(.*\)\.\.\.$/\1/p'
}

import() {
  local labels="org.leaseproof.suite=$suite"
  local wanted="" package
  for package in $(packages | tr , ' '); do
    wanted+="${wanted:+ }$(grep "^$package=" "$work/packages")"
  done
  tar -C "$work/root" --one-file-system --numeric-owner -c . 2> "$work/log" | docker import \
    --change 'ENTRYPOINT ["/usr/local/bin/entrypoint.sh"]' \
    --change "EXPOSE $port" --change "VOLUME $volume" \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8' \
    --change "ENV LEASEPROOF_VERSION=$version" \
    --change "LABEL $labels org.leaseproof.packages=\"$wanted\"" \
    - 2>> "$work/log"
}

command -v mmdebstrap > /dev/null || fetch_mmdebstrap
started=$SECONDS
say "installing $(packages) from Debian $suite"
bootstrap || explain "installing $(packages)"
say "importing into Docker"
image=$(import) || explain "importing"
docker tag "$image" "$name" || fail 4 "tagging \`$name\` failed: see Docker's message above"
say "built $name in $((SECONDS - started)) s"
