#!/usr/bin/env bash
# Runs the published corpus of cheats, mistakes and honest but unusual kernels, tests/corpus, and says where kiln is wrong:
# a line for each violation, a table last, and results under tests/corpus/results. Status 1 when anything wrong was acquitted
# or anything honest refused. tests/corpus/README.md explains.
# Usage: scripts/corpus.sh [--runs N] [--resume] [--cpu|--gpu] [--busy K] [--jobs J] [--spread] [--apart] [--again N] [--only PATTERN] [--must WHAT] [--out FOLDER]
#        (one run of the CPU part takes about three minutes)
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
if [ -z "${KILN_BIN:-}" ]; then
  KILN_BIN="${CARGO_TARGET_DIR:-$root/target}/release/kiln"
  [ -x "$KILN_BIN" ] || (cd "$root" && cargo build --release --quiet)
fi
if [ -z "${KILN_PYTHON:-}" ] && [ -x "$root/target/venv/bin/python" ]; then KILN_PYTHON="$root/target/venv/bin/python"; fi
KILN_BIN="$(realpath "$KILN_BIN")" KILN_PYTHON="${KILN_PYTHON:-python3}"
export KILN_BIN KILN_PYTHON
exec python3 "$root/scripts/corpus.py" "$@"
