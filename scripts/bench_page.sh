#!/usr/bin/env bash
# What the page costs with a study of 100,000 trials: time to the first byte (read from the store, and kept), the browser's first paint, and the
# server's memory. Builds release binaries, or uses those that $KILN_BIN and $KILN_MANY name. Needs chromium and chromium-driver
# for the paint. `scripts/bench_page.sh [TRIALS]`.
set -euo pipefail
cd "$(dirname "$0")/.."
trials="${1:-100000}"
if [ -z "${KILN_BIN:-}" ] || [ -z "${KILN_MANY:-}" ]; then
  cargo build --release --quiet -p kiln-cli -p kiln-store --bin kiln --example many
  KILN_BIN="${CARGO_TARGET_DIR:-target}/release/kiln"
  KILN_MANY="${CARGO_TARGET_DIR:-target}/release/examples/many"
fi
store="${CARGO_TARGET_DIR:-target}/bench_page/$trials.db"
if [ ! -f "$store" ]; then
  mkdir -p "$(dirname "$store")"
  echo "making a store with $trials trials"
  rm -f "$store.new"
  "$KILN_MANY" "$store.new" kernels/softmax/kernel.toml "$trials" >/dev/null
  mv "$store.new" "$store"
fi
exec python3 scripts/bench_page.py "$KILN_BIN" "$store"
