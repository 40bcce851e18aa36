#!/usr/bin/env bash
# The steps of the GitHub Action (`action.yml`), which any other pipeline can call too:
#
#   ci/action.sh install   build the program, unless there is one
#   ci/action.sh run       run the contracts, or merge shards; always ends with 0 and notes the exit code
#   ci/action.sh summary   append the summary of that run to the step summary
#   ci/action.sh verdict   end with the exit code of that run
#
# Options are variables (LEASEPROOF_ENGINES and others, see `run`), because words that are put into a
# script would be executed by it.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="${LEASEPROOF_OUT:-reports}"
# A step summary may have 1 MiB; what is greater is dropped as a whole.
summary_limit=$((1000 * 1024))

# Names a result for the steps that follow.
output() {
  if [[ -n "${GITHUB_OUTPUT:-}" ]]; then
    printf '%s=%s\n' "$1" "$2" >> "$GITHUB_OUTPUT"
  fi
}

program() {
  if [[ -n "${LEASEPROOF_BIN:-}" ]]; then
    printf '%s\n' "$LEASEPROOF_BIN"
  else
    command -v leaseproof || printf '%s\n' "$root/target/release/leaseproof"
  fi
}

install() {
  if [[ ! -x "$(program)" ]]; then
    # The toolchain is the one that the checkout names, which cargo looks for where it is started.
    (cd "$root" && cargo build --release --locked --package leaseproof-conformance --bin leaseproof)
  fi
  "$(program)" --version
}

# The newest run; names of runs begin with their time, and those of the sides of an upgrade end with
# which side they are.
newest() {
  if [[ -d "$out/runs" ]]; then
    find "$out/runs" -mindepth 1 -maxdepth 1 -type d ! -name '*-base' ! -name '*-head' | sort | tail -n 1
  fi
}

# Adds `option word` for every word of a list that is separated by white space; no word is a pattern
# of files here.
each() {
  local option="$1" words word
  read -r -d '' -a words <<< "$2" || true
  for word in ${words[@]+"${words[@]}"}; do
    arguments+=("$option" "$word")
  done
}

known_failing() {
  if [[ -n "${LEASEPROOF_KNOWN_FAILING:-}" ]]; then
    arguments+=(--known-failing "$LEASEPROOF_KNOWN_FAILING")
  fi
}

run() {
  local before code=0 directory dirs
  arguments=()
  if [[ -n "${LEASEPROOF_MERGE:-}" ]]; then
    # Here a pattern is one of directories: `shards/*`.
    # shellcheck disable=SC2206
    dirs=($LEASEPROOF_MERGE)
    arguments=(merge --out "$out" -- "${dirs[@]}")
  elif [[ -n "${LEASEPROOF_BASE:-}${LEASEPROOF_HEAD:-}" ]]; then
    arguments=(upgrade "${LEASEPROOF_BASE:-}" "${LEASEPROOF_HEAD:-}" --out "$out")
    each --contract "${LEASEPROOF_CONTRACTS:-}"
    each --matrix "${LEASEPROOF_MATRIX:-}"
    each --seed "${LEASEPROOF_SEED:-}"
    each --only "${LEASEPROOF_ONLY:-}"
    if [[ "${LEASEPROOF_COUNTERS_ONLY:-}" == true ]]; then
      arguments+=(--counters-only)
    fi
    known_failing
  else
    arguments=(run --out "$out")
    each --engine "${LEASEPROOF_ENGINES:-}"
    each --contract "${LEASEPROOF_CONTRACTS:-}"
    each --level "${LEASEPROOF_LEVELS:-}"
    each --matrix "${LEASEPROOF_MATRIX:-}"
    each --repeat "${LEASEPROOF_REPEAT:-}"
    each --seed "${LEASEPROOF_SEED:-}"
    each --shard "${LEASEPROOF_SHARD:-}"
    known_failing
  fi
  before="$(newest)"
  "$(program)" "${arguments[@]}" || code=$?
  directory="$(newest)"
  # A run that ended before it wrote anything must not pass for an earlier one.
  if [[ "$directory" == "$before" ]]; then
    directory=""
  fi
  output code "$code"
  output directory "$directory"
  echo "exit code $code"
}

summary() {
  local file="${LEASEPROOF_DIRECTORY:-}/comparison.md" to="${GITHUB_STEP_SUMMARY:-/dev/stdout}" used=0
  if [[ ! -f "$file" ]]; then
    file="${LEASEPROOF_DIRECTORY:-}/summary.md"
  fi
  if [[ -z "${LEASEPROOF_DIRECTORY:-}" || ! -f "$file" ]]; then
    printf 'Leaseproof wrote no report; it ended with exit code %s.\n' "${LEASEPROOF_CODE:-unknown}" >> "$to"
    return
  fi
  if [[ -f "$to" ]]; then
    used=$(wc -c < "$to")
  fi
  if ((used + $(wc -c < "$file") + 1 <= summary_limit)); then
    { cat "$file"; echo; } >> "$to"
  elif ((used + 8192 <= summary_limit)); then
    # The verdict is the first line, and is short.
    { head -n 1 "$file" | head -c 4096; printf '\nThe rest is too great for this page; it is in the artefact.\n'; } >> "$to"
  else
    echo "the step summary is full; the summary of this run is in the artefact" >&2
  fi
}

verdict() {
  # Without a code the run itself was killed, and there is no result that could be read.
  exit "${LEASEPROOF_CODE:-110}"
}

case "${1:-}" in
  install | run | summary | verdict) "$1" ;;
  *)
    echo "usage: ci/action.sh install|run|summary|verdict" >&2
    exit 2
    ;;
esac
