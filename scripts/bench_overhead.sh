#!/usr/bin/env bash
# What a trial costs beyond building, running and checking the kernel: a kernel that does next to nothing, a warm build
# cache, and the time from one trial's start to the next, minus what the record says was spent on the kernel.
# Limit: 5 ms. Then what each measure against cheating costs, medians of 200 runs.
# Usage: scripts/bench_overhead.sh [--trials N]
set -euo pipefail
cd "$(dirname "$0")/.."

trials=100
while [ $# -gt 0 ]; do
  case "$1" in
    --trials) trials="$2"; shift 2 ;;
    *) echo "usage: scripts/bench_overhead.sh [--trials N]" >&2; exit 2 ;;
  esac
done
[ -n "${KILN_BIN:-}" ] || cargo build --release --quiet
kiln="$(realpath "${KILN_BIN:-${CARGO_TARGET_DIR:-target}/release/kiln}")"
cargo build --release --quiet -p kiln-bench --example costs
costs="$(realpath "${CARGO_TARGET_DIR:-target}/release/examples/costs")"
kernel="$PWD/tests/noop"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
# The first run fills the cache; the second, with the same seed, proposes what is in it as far as times agree.
for round in cold warm; do
  "$kiln" tune "$kernel" --trials "$trials" --strategy random --seed 1 --samples 25 --no-ablation --json \
    > "$round.json" 2> "$round.log" || [ $? -eq 4 ]
done
"$kiln" show last --json > study.json
status=0
python3 - study.json <<'PY' || status=$?
import json, statistics, sys
trials = [t for t in json.load(open(sys.argv[1]))["trials"] if t["phase"] in ("seed", "search")]
trials.sort(key=lambda t: (t["phase"] != "seed", t["number"]))
def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(p * len(values)))]
inside, between = [], []
for now, then in zip(trials, trials[1:]):
    spent = 1e3 * (now["build_s"] + now["check_s"] + now["measure_s"])
    inside.append(1e3 * now["wall_s"] - spent)
    if now["phase"] == then["phase"]:
        between.append(then["started_ms"] - now["started_ms"] - spent)
mean = sum(between) / len(between)
print(f"{len(trials)} trials of a kernel that does next to nothing, builds from the cache")
print(f"  build, check and measure, mean        {statistics.mean(1e3 * (t['build_s'] + t['check_s'] + t['measure_s']) for t in trials):8.2f} ms")
print(f"  the rest, from trial to trial, mean   {mean:8.2f} ms")
print(f"  of it in the worker, median and P95   {statistics.median(inside):8.2f} {percentile(inside, 0.95):8.2f} ms")
print(f"  limit 5 ms: {'met' if mean <= 5 else 'MISSED'}")
sys.exit(0 if mean <= 5 else 1)
PY
echo
"$costs" "$kiln" | awk -F'\t' '{ printf "  %-56s %-26s %12s\n", $1, $2, $3 }'
exit "$status"
