#!/usr/bin/env bash
# What it gains that processes keep NVRTC loaded: configurations of the float matmul built a second from an empty cache, against
# a process for each compilation (KILN_NVRTC_COMPILATIONS=1). Both take turns, so that whatever else the machine does meets both.
# On a busy machine only processor time counts: there a new process gets more than its share of a processor, one that stays does
# not. Needs NVRTC, no GPU.
# --processors 1,8 shows where the time goes. It builds with so many processors as well: processor time that grows with their number
# is the machine's, whose processors share cores and caches. `NVRTC alone` compiles the same configurations in one process that
# does nothing else: what one processor takes beyond it is kiln's own work.
# Usage: scripts/bench_builders.sh [--configurations N] [--rounds N] [--processors N,...]; KILN_BIN names the binary,
#        KILN_BIN_BEFORE one to compare with.
set -euo pipefail
cd "$(dirname "$0")/.."
count=100 rounds=3 processors=
while [ $# -gt 0 ]; do
  case "$1" in
    --configurations) count="$2"; shift 2 ;;
    --rounds) rounds="$2"; shift 2 ;;
    --processors) processors="$2"; shift 2 ;;
    *) echo "usage: scripts/bench_builders.sh [--configurations N] [--rounds N] [--processors N,...]" >&2; exit 2 ;;
  esac
done
[ -n "${KILN_BIN:-}" ] || cargo build --release --quiet
kiln="$(realpath "${KILN_BIN:-${CARGO_TARGET_DIR:-target}/release/kiln}")"
before="${KILN_BIN_BEFORE:+$(realpath "$KILN_BIN_BEFORE")}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 - "$kiln" "$before" "$PWD/kernels/matmul_float" "$work" "$count" "$rounds" "$processors" "$PWD/scripts/peers/nvrtc_alone.py" <<'PY'
import json, os, resource, statistics, subprocess, sys, time
kiln, before, kernel, work, count, rounds, processors, alone = *sys.argv[1:5], int(sys.argv[5]), int(sys.argv[6]), *sys.argv[7:9]
used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
tried = []
def build(program, place, most=None, **extra):
    """Seconds and processor seconds of a configuration, on so many processors at most."""
    os.makedirs(place)
    command = [program, "tune", kernel, "--target", "cuda", "--arch", "sm_90a", "--until", "build", "--strategy", "random",
               "--trials", str(count), "--seed", "1", "--json"]
    own = sorted(os.sched_getaffinity(0))[:most]
    start, cpu = time.perf_counter(), used()
    ran = subprocess.run(command, cwd=place, env={**os.environ, **extra}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         preexec_fn=lambda: os.sched_setaffinity(0, own))
    wall, cpu = time.perf_counter() - start, used() - cpu
    told = json.loads(ran.stdout)
    assert told["built"] == count, f"{told['built']} of {count} were built"
    tried[:] = [entry["config"] for entry in told["configurations"]]
    return wall / count, cpu / count
def by_itself(place):
    """The same for NVRTC without kiln around it."""
    os.makedirs(place)
    with open(f"{place}/configurations.json", "w") as file:
        json.dump(tried, file)
    ran = subprocess.run([sys.executable, alone, kernel, f"{place}/configurations.json"], stdout=subprocess.PIPE, check=True)
    return tuple(json.loads(ran.stdout))
stays = lambda place, **how: build(kiln, place, **how)
kinds = {"processes that stay": stays, "a process each": lambda place: stays(place, KILN_NVRTC_COMPILATIONS="1")}
if before:
    kinds["the binary before"] = lambda place: build(before, place)
for most in filter(None, processors.split(",")):
    kinds[f"{most} of the processors"] = lambda place, most=int(most): stays(place, most=most)
if processors:
    kinds["NVRTC alone"] = by_itself
    stays(f"{work}/first")  # what is tried
taken = {kind: [] for kind in kinds}
for turn in range(rounds):
    for kind, run in list(kinds.items())[::-1 if turn % 2 else 1]:
        taken[kind].append(run(f"{work}/{turn}.{kind}"))
stay, figures = taken["processes that stay"], []
print(f"{count} configurations of matmul_float for sm_90a, {rounds} rounds, {os.cpu_count()} processors, medians")
print(f"{'':22}{'a second':>10}{'ratio':>8}{'processor ms each':>20}{'ratio':>8}")
for kind, values in taken.items():
    rate, cpu = 1 / statistics.median(v[0] for v in values), 1e3 * statistics.median(v[1] for v in values)
    ratios = [statistics.median(v[i] / s[i] for v, s in zip(values, stay)) for i in (0, 1)]
    print(f"{kind:22}{rate:10.1f}{ratios[0]:8.2f}{cpu:20.1f}{ratios[1]:8.2f}")
    name = f"matmul_float configurations built a second, {kind}"
    figures.append(json.dumps({"name": name, "value": round(rate, 2), "bound": "reported", "pass": True}))
print("ratio: how much longer a configuration takes than with processes that stay, round by round")
print("\n".join(figures))
PY
