#!/usr/bin/env bash
# The whole GPU pass. Two steps, because the machine with the GPU needs neither cargo nor a network:
#   scripts/gpu.sh pack             here: builds kiln, the GPU tests and a probe into target/gpu
#   scripts/gpu.sh [ITEM ...]       there: runs them, from target/gpu and this repository's files
# Items: tests probe itself float edit matmul triton (all when none is named). The last lines are one JSON object for each
# figure: {"name", "value", "bound", "pass"}. Everything is kept under ${OUT:-target/gpu/results}.
set -euo pipefail
cd "$(dirname "$0")/.."
root="$PWD"
bin="$root/target/gpu"

if [ "${1:-}" = pack ]; then
  mkdir -p "$bin"
  cargo build --release
  cargo build --release -p kiln-loop --example gpu
  tests="$(cargo test --release -p kiln-cli --test gpu --no-run --message-format=json 2>/dev/null |
    python3 -c 'import json,sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("executable") and m["target"]["name"] == "gpu": print(m["executable"])')"
  built="${CARGO_TARGET_DIR:-target}/release"
  cp "$built/kiln" "$bin/kiln"
  cp "$built/examples/gpu" "$bin/probe"
  cp "$tests" "$bin/tests"
  strip "$bin/kiln" "$bin/probe" "$bin/tests"
  ls -l "$bin"
  exit 0
fi

items="${*:-tests probe itself float edit matmul triton}"
out="${OUT:-$bin/results}"
mkdir -p "$out"
figures="$out/figures.jsonl"
: > "$figures"
kiln="$bin/kiln"
export KILN_BIN="$kiln" KILN_ROOT="$root" KILN_NEED_GPU=1 PYTHONUNBUFFERED=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=0
wants() { case " $items " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
figure() { python3 -c 'import json,sys; n,v,b,p=sys.argv[1:5]; print(json.dumps({"name":n,"value":float(v),"bound":b,"pass":p=="true"}))' "$@" >> "$figures"; }
# Runs a step in a folder of its own; its output is kept, and its end shown when it fails.
step() {
  local name="$1" start; shift
  start=$(date +%s%N)
  mkdir -p "$work/$name"
  if (cd "$work/$name" && "$@") > "$out/$name.log" 2>&1; then local state=ok; else local state="exit $?"; fi
  printf '%-14s %s, %d ms\n' "$name" "$state" "$((($(date +%s%N) - start) / 1000000))"
  if [ "$state" != ok ]; then tail -n 25 "$out/$name.log"; failed=1; fi
}
# Trials a second of the newest study in this folder, from when they began.
rate() {
  "$kiln" show last --json | python3 -c '
import json, sys
trials = [t for t in json.load(sys.stdin)["trials"] if t["phase"].split("/")[-1] in ("seed", "search")]
first = min(t["started_ms"] for t in trials)
last = max(t["started_ms"] + 1000 * t["wall_s"] for t in trials)
print(len(trials) / (last - first) * 1000, len(trials), sum(t["state"] != "refused" for t in trials))'
}

"$kiln" doctor --json > "$out/doctor.json" || true
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader

if wants tests; then
  step tests "$bin/tests" --test-threads 1
  figure "GPU tests" "$failed" 0 "$([ "$failed" = 0 ] && echo true || echo false)"
fi
if wants probe; then
  nvcc="$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)"
  "$nvcc" -cubin -arch=native -o "$work/probe.cubin" tests/gpu/probe.cu
  step probe "$bin/probe" "$kiln" probe "$work/probe.cubin"
  grep '^{' "$out/probe.log" >> "$figures" || true
fi
if wants itself; then
  step itself "$bin/probe" "$kiln" itself "$root/tests/gpu/itself" "${RUNS:-200}"
  grep '^{' "$out/itself.log" >> "$figures" || true
fi
if wants float; then
  tune_float() { "$kiln" tune "$root/kernels/matmul_float" --strategy random --trials 828 --samples 25 --no-ablation --no-stop --seed 1 || [ $? = 4 ]; }
  step float_cold tune_float
  cold="$(cd "$work/float_cold" && rate)"
  # The same cache, another study.
  mkdir -p "$work/float_warm/.kiln" && cp -r "$work/float_cold/.kiln/cache" "$work/float_warm/.kiln/"
  step float_warm tune_float
  warm="$(cd "$work/float_warm" && rate)"
  echo "matmul_float: cold ${cold} warm ${warm} (rate, trials, measured)"
  set -- $cold; figure "matmul_float cold, trials a second" "$1" "at least 45" "$(python3 -c "print(str($1>=45).lower())")"
  set -- $warm; figure "matmul_float warm, trials a second" "$1" "at least 100" "$(python3 -c "print(str($1>=100).lower())")"
fi
if wants edit; then
  edit() { "$root/scripts/bench_edit.sh"; }
  step edit edit
  grep '^{' "$out/edit.log" >> "$figures" || true
fi
if wants matmul; then
  tune_matmul() { "$kiln" tune "$root/kernels/matmul" --seed 1 --json > "$out/matmul.json" || [ $? = 4 ]; }
  step matmul tune_matmul
  (cd "$work/matmul" && "$kiln" show last > "$out/matmul.txt"; "$kiln" show last --json > "$out/matmul_study.json"; rate; "$kiln" bench "$root/kernels/matmul" --study last --json > "$out/matmul_bench.json"; cp -r .kiln/best "$out/" ) || failed=1
  python3 - "$out/matmul_bench.json" >> "$figures" <<'PY' || true
import json, sys
for w in json.load(open(sys.argv[1]))["workloads"]:
    against = w["baselines"][0]
    speed = against["speedup"]
    speed = speed["value"] if isinstance(speed, dict) else speed
    print(json.dumps({"name": f"matmul {w['workload'] if 'workload' in w else w['name']} against {against['name']}", "value": speed, "bound": "at least 0.5", "pass": speed >= 0.5}))
PY
fi
if wants triton; then
  tune_triton() { "$kiln" tune "$root/kernels/softmax_triton" --trials 40 --samples 50 --no-ablation --no-stop --seed 1 --json > "$out/softmax_triton.json" || [ $? = 4 ]; }
  step triton tune_triton
fi
cat "$figures"
exit "$failed"
