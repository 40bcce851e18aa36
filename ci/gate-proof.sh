#!/bin/sh
# Shows what the gate alarms on: a server compared with itself, and with itself under a known fault.
#
#   ci/gate-proof.sh ENGINE [A_A [SLOW [INDEX]]]
#
# Compares ENGINE (as `leaseproof upgrade` names it) with itself A_A times, and with itself under a claim
# that takes 1.5 times as long (SLOW times) and without the index of claims (INDEX times), all at the
# default settings. Prints a line for each comparison, with its exit code by all measurements and by
# counted work alone, and a table of how many found something worse.
#
#   LEASEPROOF   the program (default: leaseproof)
#   OUT          where runs are kept (default: a directory that is removed)
#   UPGRADE      more options of `leaseproof upgrade`
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,14s/^# \{0,1\}//p' "$0"
    exit 2
fi
engine=$1
program=${LEASEPROOF:-leaseproof}
if [ -z "${OUT:-}" ]; then
    OUT=$(mktemp -d)
    trap 'rm -rf "$OUT"' EXIT
fi
log=$OUT/log
mkdir -p "$OUT"

# prove CONTROL TIMES: one line for each comparison, and one row for the table.
prove() {
    control=$1
    times=$2
    worse=0
    counted=0
    other=0
    number=0
    while [ "$number" -lt "$times" ]; do
        number=$((number + 1))
        code=0
        # shellcheck disable=SC2086 # options are words
        "$program" upgrade "$engine" "$engine" --only measurements --control "$control" \
            --out "$OUT" ${UPGRADE:-} >"$log" 2>"$log.err" || code=$?
        base=$(sed -n 's/^base \([^ ]*\) .*/\1/p' "$log")
        head=$(sed -n 's/^head \([^ ]*\) .*/\1/p' "$log")
        by_counters=0
        "$program" compare "$base" "$head" --counters-only --out "$OUT" >"$log.counters" 2>&1 ||
            by_counters=$?
        case $code in
            103) worse=$((worse + 1)) ;;
            0 | 102) ;;
            *) other=$((other + 1)); cat "$log" "$log.err" >&2 ;;
        esac
        [ "$by_counters" -ne 103 ] || counted=$((counted + 1))
        echo "$engine $control $number: exit $code, by counters $by_counters ($head)"
        sed -n '/^inconclusive:\|^worse:\|^fine:/s/^/    /p' "$log"
    done
    rows="${rows}| $engine | $control | $times | $worse | $counted | $other |
"
}

rows=''
[ "${2:-40}" -eq 0 ] || prove none "${2:-40}"
[ "${3:-20}" -eq 0 ] || prove slow-claim "${3:-20}"
[ "${4:-20}" -eq 0 ] || prove no-index "${4:-20}"
echo
echo '| engine | fault | comparisons | worse | worse by counters alone | not compared |'
echo '| --- | --- | --- | --- | --- | --- |'
printf '%s' "$rows"
