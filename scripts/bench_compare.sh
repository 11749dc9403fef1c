#!/usr/bin/env bash
# How often `kiln compare` is wrong about a kernel compared with itself, and how often it finds a planted slowdown, beside nvbench's rule
# and a t-test on the same samples. Runs are measured by `kiln bench` in fresh processes and kept under the folder; every pair of
# them is one comparison, so 64 runs make 2,016. Interrupt it at will: --resume continues.
# Usage: scripts/bench_compare.sh [--runs N] [--resume] [--kernel PATH] [--workload NAME] [--samples N] [--out FOLDER] [--recorded FOLDER]
#        (64 runs take about six minutes; --recorded adds a table of samples that other tuners recorded)
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
if [ -z "${KILN_BIN:-}" ]; then
  KILN_BIN="${CARGO_TARGET_DIR:-$root/target}/release/kiln"
  [ -x "$KILN_BIN" ] || (cd "$root" && cargo build --release --quiet)
fi
KILN_BIN="$(realpath "$KILN_BIN")"
export KILN_BIN
exec python3 "$root/scripts/bench_compare.py" "$@"
