#!/usr/bin/env bash
# The whole GPU pass. Two steps, because the machine with the GPU needs neither cargo nor a network:
#   scripts/gpu.sh pack             here: builds kiln, the GPU tests and a probe into target/gpu
#   scripts/gpu.sh [ITEM ...]       there: runs them, from target/gpu and this repository's files
# Items: tests sanitize profile fixes probe edit float rates matmul triton itself attention attention_tune attention_torch attention_all (all when none is named), and builders, from, cookbook, cookbook_cpu, attention_bench, hopper, honest, kernel_tuner and record, of which the last
# takes ten minutes and goes on where it was when target/gpu/record travels back and forth. The last lines are one JSON object for each
# figure: {"name", "value", "bound", "pass"}. Everything is kept under ${OUT:-target/gpu/results}.
set -euo pipefail
cd "$(dirname "$0")/.."
root="$PWD"
bin="$root/target/gpu"

if [ "${1:-}" = pack ]; then
  mkdir -p "$bin"
  # All in one call: with other features, most of what it depends on would be built twice.
  tests="$(cargo test --release -p kiln-cli -p kiln-bench --example gpu --test gpu --no-run --message-format=json |
    python3 -c 'import json,sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("executable") and m["target"]["name"] == "gpu" and "test" in m["target"]["kind"]: print(m["executable"])')"
  built="${CARGO_TARGET_DIR:-target}/release"
  cp "$built/kiln" "$bin/kiln"
  cp "$built/examples/gpu" "$bin/probe"
  cp "$tests" "$bin/tests"
  strip "$bin/kiln" "$bin/probe" "$bin/tests"
  # For the item kernel_tuner: Kernel Tuner for the Python there, and its examples.
  if [ -n "${KILN_KERNEL_TUNER_EXAMPLES:-}" ]; then scripts/peers/kernel_tuner_wheels.sh "$bin" "${KILN_GPU_PYTHON:-3.12}"; fi
  ls -l "$bin"
  exit 0
fi

items="${*:-tests sanitize profile fixes probe edit float rates matmul triton itself attention attention_tune attention_torch attention_all}"
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
# Trials a second of the newest study in this folder, from the end of the default's; of each workload where each was tuned apart.
rate() {
  "$kiln" show last --json | python3 -c '
import json, sys
every = json.load(sys.stdin)["trials"]
own = lambda t: t["phase"].rpartition("/")[0]
end = lambda t: t["started_ms"] + 1000 * t["wall_s"]
trials = [t for t in every if t["phase"].split("/")[-1] in ("seed", "search")]
spent = 0
for workload in {own(t) for t in trials}:
    begun = [end(t) for t in every if own(t) == workload and t["phase"].split("/")[-1] == "default"]
    here = [t for t in trials if own(t) == workload]
    spent += max(map(end, here)) - min(begun or [t["started_ms"] for t in here])
if not trials:
    sys.exit("the study has no trials after its default: give it more --minutes")
mean = lambda key: 1000 * sum(t[key] for t in trials) / len(trials)
print(len(trials) / spent * 1000, len(trials), sum(t["state"] != "refused" for t in trials))
print("mean ms: waiting for the build %.1f, check %.1f, measure %.1f, all %.1f" % (mean("build_s"), mean("check_s"), mean("measure_s"), mean("wall_s")), file=sys.stderr)'
}

"$kiln" doctor --json > "$out/doctor.json" || true
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader

if wants tests; then
  # one after another, each with its time
  step tests 400 bash -c '
"$0" --list --skip sanitize:: $1 | sed -n "s/: test\$//p" | while read -r test; do
  begun=$(date +%s%N)
  "$0" --exact "$test" > one.log 2>&1 && state=ok || state="failed"
  printf "%-90s %s, %d ms\n" "$test" "$state" "$((($(date +%s%N) - begun) / 1000000))"
  [ "$state" = ok ] || { cat one.log; touch failed; }
done
[ ! -e failed ]' "$bin/tests" "${TESTS:-}"
  grep -c ' ok, ' "$out/tests.log" || true
  figure "GPU tests that failed" "$failed" 0 "$([ "$failed" = 0 ] && echo true || echo false)"
fi
if wants sanitize; then
  # about 3 minutes: planted copies of our own kernels, and those as they are, under compute-sanitizer
  before="$failed"
  step sanitize 480 "$bin/tests" --test-threads 1 --nocapture sanitize::
  figure "sanitizer tests that failed" "$((failed - before))" 0 "$([ "$failed" = "$before" ] && echo true || echo false)"
fi
if wants profile; then
  # about 2 minutes: ncu on matmul and attention, quick and full, and on copies with one planted bottleneck each
  step profile 460 python3 "$root/scripts/gpu_profile.py" "$kiln" "$root" "$out" 400
fi
if wants fixes; then
  # about 2 minutes: our own kernels before and after a fix, what was promised beside what it gave
  step fixes 260 python3 "$root/scripts/gpu_fixes.py" "$kiln" "$root" "$out" 220
fi
if wants cookbook; then
  # 380 s at most: every recipe of kernels/cookbook before and after its fixes, or those that COOKBOOK_ONLY names
  step cookbook "$((${COOKBOOK_SECONDS:-380} + 100))" python3 "$root/scripts/gpu_cookbook.py" "$kiln" "$root" "$out" --seconds "${COOKBOOK_SECONDS:-380}" ${COOKBOOK_ONLY:+--only "$COOKBOOK_ONLY"}
  cat "$out/cookbook.log"
fi
if wants cookbook_cpu; then
  # about a minute: the recipes for a processor, where nothing else runs
  mkdir -p "$out/cpu"
  step cookbook_cpu 150 python3 "$root/scripts/gpu_cookbook.py" "$kiln" "$root" "$out/cpu" --target cpu --seconds 100
  cat "$out/cookbook_cpu.log"
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
if wants builders; then
  step builders 120 "$root/scripts/bench_builders.sh" --configurations 300
  cat "$out/builders.log"
  grep '^{' "$out/builders.log" >> "$figures" || true
fi
# Exit code 4 says that a study did not reach its aim, which is not what is looked at here.
tune() { printf '"%s" tune "%s" %s || [ $? = 4 ]' "$kiln" "$root/kernels/$1" "$2"; }
if wants float; then
  every="--strategy random --trials 828 --samples 25 --no-ablation --no-stop --seed 1"
  step float_cold 90 bash -c "$(tune matmul_float "$every")"
  # The same cache, another study.
  mkdir -p "$work/float_warm/.kiln" && cp -r "$work/float_cold/.kiln/cache" "$work/float_warm/.kiln/" || true
  step float_warm 90 bash -c "$(tune matmul_float "$every")"
  (cd "$work/float_cold" && "$kiln" history last --export t4 | gzip -9n > "$out/matmul_float.json.gz") || true
  for state in cold:55 warm:115; do
    got="$(cd "$work/float_${state%:*}" && rate || echo 0)"
    echo "matmul_float ${state%:*}: $got (trials a second, trials, measured)"
    figure "matmul_float ${state%:*}, trials a second" "${got%% *}" "at least ${state#*:}" "$(python3 -c "print(str(${got%% *} >= ${state#*:}).lower())")"
  done
fi
# The tensor-core matmul: how fast configurations are compiled, tried from an empty cache, and tried again.
if wants rates; then
  trials=300
  same="--workload square4096 --strategy random --trials $trials --seed 1"
  every="$same --samples 25 --no-ablation --no-stop"
  begun=$(date +%s%N)
  step rates_build 90 "$kiln" tune "$root/kernels/matmul" --target cuda --arch sm_90a --until build $same
  compiled="$(python3 -c "print($trials * 1e9 / ($(date +%s%N) - $begun))")"
  step rates_cold 120 bash -c "$(tune matmul "$every")"
  mkdir -p "$work/rates_warm/.kiln" && cp -r "$work/rates_cold/.kiln/cache" "$work/rates_warm/.kiln/" || true
  step rates_warm 120 bash -c "$(tune matmul "$every")"
  cold="$(cd "$work/rates_cold" && rate || echo 0)" warm="$(cd "$work/rates_warm" && rate || echo 0)"
  figure "matmul configurations compiled a second" "$compiled" reported true
  figure "matmul trials a second, everything built" "${warm%% *}" reported true
  python3 - "$compiled" "${cold%% *}" "${warm%% *}" >> "$figures" <<'PY'
import json, sys
compiled, cold, warm = map(float, sys.argv[1:])
bound = 0.8 * min(compiled, warm)
print(json.dumps({"name": "matmul trials a second, empty build cache", "value": cold, "bound": f"at least {bound:.1f}", "pass": cold >= bound}))
PY
  busy="$(sed -n 's/.*builders were busy \([0-9]*\) %.*/\1/p' "$out/rates_cold.log" | head -1)"
  # Nothing is said of builders that nothing held up.
  figure "matmul builders busy while there was work for all, %" "${busy:-100}" "at least 85" "$([ "${busy:-100}" -ge 85 ] && echo true || echo false)"
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
# From a file that nobody prepared to a confirmed study, with the answers to what kiln asks beside it: how long kiln takes.
if wants from; then
  for name in triton cuda; do
    mkdir -p "$work/from_$name/mine"
    (cd "$root/tests/unprepared/$name" && cp *.* "$work/from_$name/mine/")
    start=$(date +%s%N)
    step "from_$name" 290 bash -c "cd mine && '$kiln' init --from *.* && cp '$root/tests/unprepared/$name/answered/'* . && '$kiln' check . && { '$kiln' tune . --minutes 1.5 || [ \$? = 4 ]; }"
    figure "from a $name file to the end of its study, s" "$((($(date +%s%N) - start) / 1000000000))" "at most 300" true
    tail -n 40 "$out/from_$name.log"
  done
fi
# Trials a second from an empty cache with builders ahead and without, and triton.autotune on the same configurations. A minute or two a
# kernel, most of it without builders.
if wants triton; then
  every="--strategy random --trials ${TRITON_TRIALS:-30} --minutes ${TRITON_MINUTES:-3} --samples 25 --no-ablation --no-stop --seed 1"
  for name in ${TRITON_KERNELS:-softmax layernorm matmul}; do
    step "triton_$name" 150 bash -c "$(tune "${name}_triton" "$every --json > '$out/${name}_triton.json'")"
    step "triton_${name}_in_turn" "${IN_TURN_SECONDS:-200}" env KILN_TRITON_AHEAD=0 bash -c "$(tune "${name}_triton" "$every")"
    for way in ahead: "in turn:_in_turn"; do
      got="$(cd "$work/triton_$name${way#*:}" && rate || echo 0)"
      echo "${name}_triton ${way%:*}: $got (trials a second, trials, measured)"
      figure "${name}_triton compiled ${way%:*}, trials a second" "${got%% *}" reported true
    done
    # What builders made, and what first calls had to make all the same: shapes that are only checked, and misses.
    (cd "$work/triton_$name" && python3 - "$name" >> "$figures" <<'PY') || true
import glob, json, sys
ahead = made = 0
for folder in glob.glob(".kiln/cache/compilers/*/triton"):
    built = len(glob.glob(folder + "/kiln-ptxas/*"))
    ahead, made = ahead + built, made + (len(glob.glob(folder + "/*/*.cubin")) if built else 0)
for what, value in (("by builders", ahead), ("by first calls", made - ahead)):
    print(json.dumps({"name": f"{sys.argv[1]}_triton kernels compiled {what}", "value": value, "bound": "reported", "pass": True}))
PY
    (cd "$work/triton_$name" && "$kiln" show last --json > "$out/${name}_triton_study.json") || true
    step "triton_${name}_autotune" 200 python3 "$root/scripts/triton_autotune.py" "$name" "$out/${name}_triton_study.json"
    grep '^{' "$out/triton_${name}_autotune.log" >> "$figures" || true
    python3 - "$out/${name}_triton.json" "$name" >> "$figures" <<'PY' || true
import json, sys
s = json.load(open(sys.argv[1]))
print(json.dumps({"name": f"{sys.argv[2]}_triton tuned against torch, x", "value": s["speedup"], "bound": "reported", "pass": True}))
PY
  done
fi
if wants itself; then
  step itself 240 "$bin/probe" "$kiln" itself "$root/tests/gpu/itself" "${RUNS:-200}" "${SECONDS_ITSELF:-200}"
  grep '^{' "$out/itself.log" >> "$figures" || true
fi
# Attention: proofs, and winners against FlashAttention 2 and SDPA's own choice.
# Each once: width of heads and configuration of what claims.toml says of the portable kernel, which prove.py is for.
winners="$(python3 - <<'PY'
import tomllib
claims = tomllib.load(open("claims.toml", "rb"))["claims"]
named = "implementation=portable,"
found = [f'{c["workload"].split("_d")[1].split("_")[0]} {c["config"].removeprefix(named)}' for c in claims if c.get("config", "").startswith(named)]
# Other widths of heads, which no workload has.
found += [f"{d} BLOCK_M=64,BLOCK_N=32,WARPS=4,STAGES=2,Q_IN_REGS=false,SWIZZLE=xor,KV_BUFFER=shared,UNROLL=1,MIN_BLOCKS=1" for d in (32, 96, 256)]
print(" ".join(dict.fromkeys(found)))
PY
)"
attention_workloads="s512_d64 s512_d64_causal s2048_d64 s2048_d64_causal s4096_d64 s4096_d64_causal s4096_d128 s4096_d128_causal"
if wants attention; then
  # about 100 s each: every distribution on every workload, three reruns. f16 first: the shorter list of distributions.
  step attention_f16 150 "$kiln" check "$root/kernels/attention" --target cuda --variant T=f16 --full --seed 1
  step attention_bf16 200 "$kiln" check "$root/kernels/attention" --target cuda --variant T=bf16 --full --seed 2
  # about 30 s: bit-identical reruns, offsets beyond 32 bits
  step attention_prove 90 python3 "$root/kernels/attention/prove.py" $winners
  # about 30 to 60 s each
  sanitizer="$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer /usr/local/cuda*/compute-sanitizer/compute-sanitizer 2>/dev/null | head -1 || true)"
  if [ -n "$sanitizer" ]; then
    for tool in memcheck racecheck synccheck; do
      step attention_$tool 120 "$sanitizer" --tool "$tool" --error-exitcode 9 python3 "$root/kernels/attention/prove.py" --small $winners
    done
  else
    echo "no compute-sanitizer on this machine"
  fi
  # about 10 s: the original's index, refused at the first shape beyond one tile
  for config in INDEX=modulo,PAD=8 INDEX=in_tile,PAD=8; do
    (cd "$work" && "$kiln" check "$root/tests/attention_gallery" --config "$config" --json > "$out/gallery_$config.json") || true
    grep -o '"gate":"[a-z_]*"\|"passed":[a-z]*,"questions"\|"workload":"[a-z_]*"}' "$out/gallery_$config.json" | tail -3 || true
  done
fi
if wants attention_tune; then
  for w in ${WORKLOADS:-$attention_workloads}; do
    step "attention_$w" 120 bash -c "$(tune attention "--target cuda --variant T=bf16 --workload $w --baseline flash --trials ${TRIALS:-120} --samples ${SAMPLES:-50} --no-stop --no-prior --adopt --seed 1 --json > '$out/attention_$w.json'")"
    (cd "$work/attention_$w" && "$kiln" show last > "$out/attention_$w.txt" && "$kiln" show last --json > "$out/attention_${w}_study.json" && mkdir -p "$out/best_$w" && cp -r .kiln/best/flash_attention/. "$out/best_$w/") || failed=1
    cp kernels/attention/results/tuned.toml "$out/"
  done
fi
# What README's first command does here: one configuration for all eight workloads.
if wants attention_all; then
  step attention_all 400 bash -c "$(tune attention "--seed 1 --no-prior --json > '$out/attention_all.json'")"
  (cd "$work/attention_all" && "$kiln" show last > "$out/attention_all.txt") || failed=1
fi
# What is in the table of tuned configurations against SDPA's own choice, about 6 s each.
if wants attention_torch; then
  for w in ${WORKLOADS:-$attention_workloads}; do
    step "torch_$w" 60 bash -c "'$kiln' bench '$root/kernels/attention' --target cuda --variant T=bf16 --workload $w --baseline torch --samples 25 --max-samples 25 --seed 1 --json > '$out/torch_$w.json'"
  done
fi
# All workloads against all baselines.
if wants attention_bench; then
  step attention_bench 400 bash -c "'$kiln' bench '$root/kernels/attention' > '$out/attention_bench.txt'"
fi
# The kernels with Hopper's own instructions, by kiln: about 80 s, up to 300 s, 60 s and 100 s each.
if wants hopper; then
  for kernel in ${HOPPER:-attention matmul_hopper}; do
    only=""; [ "$kernel" != attention ] || only="--target cuda --implementation hopper"
    step "${kernel}_check" 150 "$kiln" check "$root/kernels/$kernel" $only --full
    step "${kernel}_bench" 300 bash -c "'$kiln' bench '$root/kernels/$kernel' $only --variant T=bf16 > '$out/${kernel}_bench.txt'"
    step "${kernel}_fuzz" 75 "$kiln" fuzz "$root/kernels/$kernel" $only --cases 60 --minutes 1
    step "${kernel}_sanitize" 120 "$kiln" sanitize "$root/kernels/$kernel" $only
  done
fi
# Honest cases of the corpus again, several at a time, for HONEST_SECONDS; the table travels back.
if wants honest; then
  timeout -s INT -k 120 "${HONEST_SECONDS:-400}" env KILN_BIN="$kiln" scripts/corpus.sh --gpu --must accepted --runs 20 --resume --jobs "${HONEST_JOBS:-8}" --apart > "$out/honest.log" 2>&1 || true
  tail -n 4 "$out/honest.log"
  cp tests/corpus/results/gpu-quiet.md "$out/"
fi
# Kernel Tuner's examples tuned by kiln and by Kernel Tuner, for KERNEL_TUNER_SECONDS.
if wants kernel_tuner; then
  seconds="${KERNEL_TUNER_SECONDS:-440}"
  step kernel_tuner "$((seconds + 20))" python3 "$root/scripts/bench_kernel_tuner.py" --kiln "$kiln" --sources "$bin/kernel_tuner_examples" \
    --modules "$bin/kernel_tuner" --seconds "$seconds" ${KERNEL_TUNER_ONLY:+--only "$KERNEL_TUNER_ONLY"} --work "$work/kernel_tuner" --out "$out/kernel_tuner"
  grep '^{' "$out/kernel_tuner.log" >> "$figures" || true
  cat "$out/kernel_tuner/kernel_tuner.md" || true
fi
# Every valid configuration of the portable attention kernel at one workload.
if wants record; then
  mkdir -p "$bin/record"
  cd "$bin/record"
  again="--resume last"
  [ -d .kiln ] || again="--target cuda --variant T=bf16 --implementation portable --workload s2048_d64 --baseline flash --strategy random --trials 100000 --samples 25 --no-stop --no-prior --seed 1"
  timeout -s INT -k 30 "${RECORD_SECONDS:-520}" "$kiln" tune "$root/kernels/attention" $again > "$out/record.log" 2>&1 || echo "record: exit $?"
  tail -n 5 "$out/record.log"
  "$kiln" history last --export t4 | gzip -9n > "$out/attention_s2048_d64.json.gz"
  rm -rf .kiln/cache && tar -czf "$out/record.tgz" -C "$bin" record
  cd "$root"
fi
# Few files travel better than many.
tar -C "$out" --exclude record.tgz -czf "$work/results.tgz" . && mv "$work/results.tgz" "$out/" && find "$out" -mindepth 1 -maxdepth 1 ! -name results.tgz ! -name record.tgz ! -name figures.jsonl -exec rm -rf {} +
cat "$figures"
exit "$failed"
