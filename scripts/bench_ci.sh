#!/usr/bin/env bash
# How often `kiln ci --base` is right: on a kernel whose machine code differs and whose speed does not (it must pass), and on one that is 5 %
# slower (it must fail). Each run is a process of its own on a scratch repository; results are kept, one line each, and --resume continues.
# Usage: scripts/bench_ci.sh [--runs N] [--resume] [--out FOLDER]      (50 runs of each take about 40 minutes on a busy machine)
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
runs=50 resume=false out="$root/target/bench_ci"
while [ $# -gt 0 ]; do
  case "$1" in
    --runs) runs="$2"; shift 2 ;;
    --out) out="$2"; shift 2 ;;
    --resume) resume=true; shift ;;
    *) echo "usage: scripts/bench_ci.sh [--runs N] [--resume] [--out FOLDER]" >&2; exit 2 ;;
  esac
done
if [ -z "${KILN_BIN:-}" ]; then
  KILN_BIN="${CARGO_TARGET_DIR:-$root/target}/release/kiln"
  [ -x "$KILN_BIN" ] || (cd "$root" && cargo build --release --quiet)
fi
KILN_BIN="$(realpath "$KILN_BIN")"
mkdir -p "$out"
$resume || rm -f "$out"/results.tsv
touch "$out/results.tsv"

# A repository with the kernel of kernels/softmax, and its two changed versions.
repository="$out/repository"
rm -rf "$repository"
mkdir -p "$repository"
cp -r "$root/kernels/softmax" "$repository/"
cd "$repository"
git init --quiet --initial-branch main
echo .kiln > .gitignore
git add -A
git -c user.name=kiln -c user.email=kiln@example.com commit --quiet -m base
cp softmax/softmax.c "$out/base.c"
# Other code, the same work: a function that nobody calls.
{ cat "$out/base.c"; echo '__attribute__((used)) static int nobody_calls_this(int a) { return 3 * a; }'; } > "$out/equal.c"
# The first twentieth of the rows is computed twice.
sed 's|^    int64_t r = 0;|    int64_t r = 0;\n    for (int64_t again = 0; again + GROUP <= rows / 20; again += GROUP)\n        soften(GROUP, x + again * cols, y + again * cols, cols);|' \
  "$out/base.c" > "$out/slower.c"

for number in $(seq 1 "$runs"); do
  for kind in equal slower; do
    grep -q "^$kind	$number	" "$out/results.tsv" && continue
    cp "$out/$kind.c" softmax/softmax.c
    code=0 began=$SECONDS
    "$KILN_BIN" ci softmax --base main --workload short --json --quiet > "$out/last.json" 2> "$out/last.log" || code=$?
    verdict="$(sed -E 's/.*"verdict":"([a-z_]+)","moved".*/\1/' "$out/last.json")"
    printf '%s\t%s\t%s\t%s\t%s\n' "$kind" "$number" "$code" "$verdict" "$((SECONDS - began))" >> "$out/results.tsv"
  done
done
# kind, exit code, verdict: how often, and the mean time.
awk -F'\t' '{ n[$1 "\t" $3 "\t" $4]++; s[$1 "\t" $3 "\t" $4] += $5 }
  END { for (k in n) printf "%s\t%d runs, %.0f s each\n", k, n[k], s[k] / n[k] }' "$out/results.tsv" | sort
