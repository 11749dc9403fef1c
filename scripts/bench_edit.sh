#!/usr/bin/env bash
# From a change of the source to a checked and timed verdict on one configuration, by the wall clock: what a person at the
# keyboard waits for. Five changes, the middle one counts. Needs a GPU; KILN_BIN names the binary.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${KILN_BIN:-}" ] || cargo build --release --quiet
kiln="$(realpath "${KILN_BIN:-${CARGO_TARGET_DIR:-target}/release/kiln}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp -r kernels/matmul_float "$work/kernel"
cd "$work"
for change in 1 2 3 4 5; do
  echo "// change $change" >> kernel/matmul_float.cu
  start=$(date +%s%N)
  "$kiln" gate kernel --target cuda --json > verdict.json
  end=$(date +%s%N)
  python3 -c 'import json; assert json.load(open("verdict.json"))["ladder"]["measured"]'
  echo "$((end - start))" >> times
done
python3 - <<'PY'
import json
times = sorted(int(line) / 1e9 for line in open("times"))
middle = times[len(times) // 2]
print(json.dumps({"name": "change to verdict, s", "value": middle, "bound": "under 3", "pass": middle < 3}))
PY
