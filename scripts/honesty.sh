#!/usr/bin/env bash
# Does kiln cry wolf? A kernel against itself, with fresh workers and fresh memory for every block and no shortcut for
# identical code, at a dead zone of 0 and of 3 %; and with a planted slowdown of 5 %, which must be found.
# Prints one object: false verdicts (`faster` or `slower`) and found slowdowns, as rates with 95 % intervals.
# Usage: scripts/honesty.sh [--runs N]        (about a second a run, three kinds of run)
set -euo pipefail
cd "$(dirname "$0")/.."

runs=100
while [ $# -gt 0 ]; do
  case "$1" in
    --runs) runs="$2"; shift 2 ;;
    *) echo "usage: scripts/honesty.sh [--runs N]" >&2; exit 2 ;;
  esac
done
[ -n "${KILN_BIN:-}" ] || cargo build --release --quiet
kiln="$(realpath "${KILN_BIN:-${CARGO_TARGET_DIR:-target}/release/kiln}")"
kernel="$PWD/tests/honesty"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
: > verdicts
for run in $(seq "$runs"); do
  for kind in "0 0" "0 3" "1 0" "1 3"; do
    set -- $kind
    verdict="$("$kiln" bench "$kernel" --config "SLOWER=$1" --dead-zone "$2" --json 2> log |
      python3 -c 'import json,sys; print(json.load(sys.stdin)["workloads"][0]["baselines"][0]["verdict"])')" ||
      { cat log >&2; exit 1; }
    echo "$1 $2 $verdict" >> verdicts
  done
  if [ $((run % 10)) -eq 0 ]; then echo "$run of $runs" >&2; fi
done
python3 - verdicts <<'PY'
import json, math, sys
from collections import Counter
rows = Counter(tuple(line.split()) for line in open(sys.argv[1]))
def rate(slower, zone, wanted):
    all_ = sum(n for (s, z, _), n in rows.items() if (s, z) == (slower, zone))
    hits = sum(n for (s, z, v), n in rows.items() if (s, z) == (slower, zone) and v in wanted)
    # Wilson's interval: sensible at 0 and 1.
    p, z = hits / all_, 1.959964
    centre, spread = p + z * z / (2 * all_), z * math.sqrt(p * (1 - p) / all_ + z * z / (4 * all_ * all_))
    scale = 1 + z * z / all_
    return {"rate": round(p, 4), "ci95": [round(max(0, (centre - spread) / scale), 4), round(min(1, (centre + spread) / scale), 4)], "runs": all_}
false = {zone: rate("0", zone, ("faster", "slower")) for zone in ("0", "3")}
power = {zone: rate("1", zone, ("slower",)) for zone in ("0", "3")}
print(json.dumps({
    "false_rate": {f"dead_zone_{zone}": false[zone]["rate"] for zone in false},
    "ci95": {f"dead_zone_{zone}": false[zone]["ci95"] for zone in false},
    "power": {f"dead_zone_{zone}": power[zone]["rate"] for zone in power},
    "power_ci95": {f"dead_zone_{zone}": power[zone]["ci95"] for zone in power},
    "runs": false["0"]["runs"],
    "verdicts": {" ".join(key): n for key, n in sorted(rows.items())},
}))
met = false["0"]["rate"] <= 0.05 and false["3"]["rate"] <= 0.01 and power["3"]["rate"] >= 0.95
print("limits (false at 0: 5 %, at 3 %: 1 %; power at 3 %: 95 %):", "met" if met else "MISSED", file=sys.stderr)
sys.exit(0 if met else 1)
PY
