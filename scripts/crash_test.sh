#!/usr/bin/env bash
# `kill -9` at ten random moments of a study, then --resume. Holds that no finished trial is lost, changed or repeated;
# that the next proposal is a function of the recorded trials alone (two copies of the record go on with the same one);
# that no worker is left behind, not even one that stands still while another is timed; and that replaying the finished
# study gives the identical answer.
# Usage: scripts/crash_test.sh SEED
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: scripts/crash_test.sh SEED" >&2; exit 2; }
seed="$1"
[ -n "${KILN_BIN:-}" ] || cargo build --release --quiet
kiln="$(realpath "${KILN_BIN:-${CARGO_TARGET_DIR:-target}/release/kiln}")"
kernel="$PWD/kernels/softmax"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
RANDOM="$seed"

# Every recorded trial on a line, in the order recorded: phase, number, state, cost, configuration.
trials() {
  "$kiln" show last --json | python3 -c '
import json, sys
for t in json.load(sys.stdin)["trials"]:
    print(t["phase"], t["number"], t["state"], t["cost"], t["config"])'
}
workers() { pgrep -f "$kiln worker" || true; }
begin() { "$kiln" tune "$kernel" --trials 120 --samples 25 --seed "$seed" --json > out.json 2> log & }
resume() { "$kiln" tune "$kernel" --resume --json > out.json 2> log & }
# The first trial that a copy of the record goes on with.
next_of() {
  local copy="$1" before
  before="$(cd "$copy" && trials | wc -l)"
  (
    cd "$copy"
    resume
    pid=$!
    for _ in $(seq 600); do
      if [ "$(trials | wc -l)" -gt "$before" ] || ! kill -0 "$pid" 2> /dev/null; then break; fi
      sleep 0.05
    done
    kill -9 "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
    trials | sed -n "$((before + 1))p" | cut -d' ' -f1,2,5-
  )
}
fail() { echo "crash_test: $*" >&2; [ -s log ] && tail -5 log >&2; exit 1; }

: > known
begin
for moment in $(seq 10); do
  pid=$!
  sleep "$((RANDOM % 4 + 1)).$((RANDOM % 90 + 10))"
  kill -9 "$pid" 2> /dev/null || fail "the study ended before moment $moment"
  wait "$pid" 2> /dev/null || true
  sleep 1
  left="$(workers)"
  [ -z "$left" ] || fail "workers left behind after moment $moment: $left"
  trials > now 2> /dev/null || : > now
  head -n "$(wc -l < known)" now | cmp -s - known || fail "finished trials were lost or changed at moment $moment"
  [ -z "$(cut -d' ' -f1,2 now | sort | uniq -d)" ] || fail "a trial was repeated at moment $moment"
  cp now known
  if [ -s now ]; then
    rm -rf a b
    mkdir a b
    cp -r .kiln a/ && cp -r .kiln b/
    first="$(next_of a)" second="$(next_of b)"
    [ "$first" = "$second" ] || fail "two resumed copies went on differently: $first / $second"
    echo "moment $moment: $(wc -l < now) trials kept; next in both copies: ${first:-the end}"
    resume
  else
    echo "moment $moment: nothing was recorded yet"
    "$kiln" show last > /dev/null 2>&1 && resume || begin
  fi
done
wait $! || [ $? -eq 4 ] || fail "the resumed study failed"
head -n "$(wc -l < known)" <(trials) | cmp -s - known || fail "finished trials were lost or changed at the end"
[ -z "$(trials | cut -d' ' -f1,2 | sort | uniq -d)" ] || fail "a trial was repeated"
study="$(python3 -c 'import json; print(json.load(open("out.json"))["study"])')"
"$kiln" tune "$kernel" --replay "$study" --json > replay.json 2> log || [ $? -eq 4 ] || fail "the replay failed"
python3 - <<'PY' || fail "the replay gave another answer"
import json
first, again = json.load(open("out.json")), json.load(open("replay.json"))
for answer in (first, again):
    answer.pop("seconds")
if first != again:
    for key in first:
        if first[key] != again.get(key):
            print(key, first[key], again.get(key))
    raise SystemExit(1)
print("replayed:", first["verdict"], first["config"], first["speedup"])
PY
# A comparison stops whoever is not timed: kiln is killed while a worker stands still.
standing() {
  local worker
  for worker in $(workers); do
    case "$(sed 's/.*) //' "/proc/$worker/stat" 2> /dev/null)" in T*) return 0 ;; esac
  done
  return 1
}
for moment in 1 2 3; do
  "$kiln" bench "$kernel" --samples 200 --json > bench.json 2> log &
  pid=$!
  until standing; do kill -0 "$pid" 2> /dev/null || fail "no worker stood still during a comparison"; done
  kill -9 "$pid"
  wait "$pid" 2> /dev/null || true
  for _ in $(seq 100); do [ -n "$(workers)" ] || break; sleep 0.05; done
  left="$(workers)"
  [ -z "$left" ] || fail "workers left behind after kiln was killed while one stood still: $left"
done
echo "passed: $(trials | wc -l) trials, ten kills, three beside a worker that stands still, seed $seed"
