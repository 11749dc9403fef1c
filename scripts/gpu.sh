#!/usr/bin/env bash
# The whole GPU pass. Two steps, because the machine with the GPU needs neither cargo nor a network:
#   scripts/gpu.sh pack             here: builds kiln, the GPU tests and a probe into target/gpu
#   scripts/gpu.sh [ITEM ...]       there: runs them, from target/gpu and this repository's files
# Items: tests probe edit float matmul triton itself (all when none is named). The last lines are one JSON object for each
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

items="${*:-tests probe edit float matmul triton itself}"
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
# Runs a step in a folder of its own, for so many seconds at most; its output is kept, and its end shown when it fails.
step() {
  local name="$1" limit="$2" start; shift 2
  start=$(date +%s%N)
  mkdir -p "$work/$name"
  if (cd "$work/$name" && timeout -k 5 "$limit" "$@") > "$out/$name.log" 2>&1; then local state=ok; else local state="exit $?"; fi
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
mean = lambda key: 1000 * sum(t[key] for t in trials) / len(trials)
print(len(trials) / (last - first) * 1000, len(trials), sum(t["state"] != "refused" for t in trials))
print("mean ms: waiting for the build %.1f, check %.1f, measure %.1f, all %.1f" % (mean("build_s"), mean("check_s"), mean("measure_s"), mean("wall_s")), file=sys.stderr)'
}

"$kiln" doctor --json > "$out/doctor.json" || true
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader

if wants tests; then
  step tests 150 "$bin/tests" --test-threads 1
  figure "GPU tests that failed" "$failed" 0 "$([ "$failed" = 0 ] && echo true || echo false)"
fi
if wants probe; then
  nvcc="$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)"
  "$nvcc" -cubin -arch=native -o "$work/probe.cubin" tests/gpu/probe.cu
  step probe 30 "$bin/probe" "$kiln" probe "$work/probe.cubin"
  grep '^{' "$out/probe.log" >> "$figures" || true
fi
if wants edit; then
  step edit 60 "$root/scripts/bench_edit.sh"
  grep '^{' "$out/edit.log" >> "$figures" || true
fi
# Exit code 4 says that a study did not reach its aim, which is not what is looked at here.
tune() { printf '"%s" tune "%s" %s || [ $? = 4 ]' "$kiln" "$root/kernels/$1" "$2"; }
if wants float; then
  every="--strategy random --trials 828 --samples 25 --no-ablation --no-stop --seed 1"
  step float_cold 90 bash -c "$(tune matmul_float "$every")"
  # The same cache, another study.
  mkdir -p "$work/float_warm/.kiln" && cp -r "$work/float_cold/.kiln/cache" "$work/float_warm/.kiln/" || true
  step float_warm 90 bash -c "$(tune matmul_float "$every")"
  for state in cold:45 warm:100; do
    got="$(cd "$work/float_${state%:*}" && rate || echo 0)"
    echo "matmul_float ${state%:*}: $got (trials a second, trials, measured)"
    figure "matmul_float ${state%:*}, trials a second" "${got%% *}" "at least ${state#*:}" "$(python3 -c "print(str(${got%% *} >= ${state#*:}).lower())")"
  done
fi
if wants matmul; then
  step matmul 200 bash -c "$(tune matmul "--seed 1 --json > '$out/matmul.json'")"
  (cd "$work/matmul" && "$kiln" show last > "$out/matmul.txt" && rate && "$kiln" show last --json > "$out/matmul_study.json" && cp -r .kiln/best/matmul "$out/best") || failed=1
  # Rates as in the study's phases: cold above; the same configurations again from the cache.
  step matmul_bench 100 bash -c "cd '$work/matmul' && '$kiln' bench '$root/kernels/matmul' --study last --json > '$out/matmul_bench.json'"
  python3 - "$out/matmul_bench.json" >> "$figures" <<'PY' || true
import json, sys
for w in json.load(open(sys.argv[1]))["workloads"]:
    against = w["baselines"][0]
    speed = against["speedup"]
    speed = speed["value"] if isinstance(speed, dict) else speed
    name = w.get("workload", w.get("name"))
    print(json.dumps({"name": f"matmul {name} against {against['name']}, x", "value": speed, "bound": "at least 0.5", "pass": speed >= 0.5}))
    print(json.dumps({"name": f"matmul {name}, share of the board's peak", "value": w["roofline"], "bound": "reported", "pass": True}))
    print(json.dumps({"name": f"{against['name']} {name}, share of the board's peak", "value": against["roofline"], "bound": "reported", "pass": True}))
PY
fi
if wants triton; then
  step triton 120 bash -c "$(tune softmax_triton "--trials 30 --samples 50 --no-ablation --no-stop --seed 1 --json > '$out/softmax_triton.json'")"
  python3 - "$out/softmax_triton.json" >> "$figures" <<'PY' || true
import json, sys
s = json.load(open(sys.argv[1]))
print(json.dumps({"name": "softmax_triton tuned against torch, x", "value": s["speedup"], "bound": "reported", "pass": True}))
PY
fi
if wants itself; then
  step itself 240 "$bin/probe" "$kiln" itself "$root/tests/gpu/itself" "${RUNS:-200}" "${SECONDS_ITSELF:-200}"
  grep '^{' "$out/itself.log" >> "$figures" || true
fi
cat "$figures"
exit "$failed"
