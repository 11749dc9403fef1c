#!/usr/bin/env bash
# Compiles every CUDA kernel of this repository, and the one `kiln init` writes, for three architectures (those of tests for
# one): several configurations of each with NVRTC (all cases of a test), the default one with nvcc too, and all of a kernel's
# results/tuned.toml. All must build, none may spill, and no wgmma may be serialized. No GPU is needed.
# Arguments, such as `kernels/attention`, restrict it to folders of these paths. The toolkit is the one kiln finds; KILN names the binary (default: that of target/release).
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
kiln="${KILN:-${CARGO_TARGET_DIR:-$root/target}/release/kiln}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# What kiln builds lands in this folder's .kiln.
cd "$work"

"$kiln" init sample >/dev/null
folders=("$work/sample")
while read -r file; do
  # What is planted there must be refused, and some of it is for one architecture alone: tests/build_cuda.rs and
  # tests/cli/planted.rs build it.
  # Sources of kernel_tuner lie elsewhere: tests/cli/kernel_tuner.rs builds them where they are; so do those of unprepared:
  # tests/cli/from.rs. Host launchers are nvcc's alone. Recipes spill where they say so: scripts/gpu_cookbook.py --check builds them.
  case "$file" in */kernels/cookbook/* | */planted_cuda/* | */kernel_tuner/* | */unprepared/* | */gpu/kinds/* | */corpus/cuda_launcher/* | */corpus/launcher_*) continue ;; esac
  [ $# -eq 0 ] || [[ " $* " == *" $(dirname "${file#"$root/"}") "* ]] || continue
  # Only those with a source: a target may be no more than a space. Implementations have their own.
  if awk '/^\[/ { inside = ($0 ~ /^\[target\.cuda(\.implementation\.[A-Za-z0-9_]+)?\]$/) } inside && /^source *=/ { found = 1 } END { exit !found }' "$file"; then
    folders+=("$(dirname "$file")")
  fi
done < <(find "$root/kernels" "$root/tests" -name kernel.toml | sort)
# A search that failed would otherwise look like nothing to do.
[ "${#folders[@]}" -ge "$(($# ? $# + 1 : 4))" ] || { echo "expected more kernels, found ${folders[*]}" >&2; exit 1; }

# Looks at what was built, on standard input, and prints how many configurations that were.
cat >look.py <<'PY'
import json, sys

text = sys.stdin.read()
try:
    report = json.loads(text)
    configurations = report["configurations"]
except (ValueError, KeyError):
    sys.exit(f"{sys.argv[1]}: not a report: {text}")
wrong = [f"{c['config']}: {c['refusal']['gate']}: {c['refusal']['measured']}" for c in configurations if not c["passed"]]
for c in configurations:
    kernels = c["resources"]
    if c["passed"] and not kernels:
        wrong.append(f"{c['config']}: nothing is known of what it takes")
    wrong += [f"{c['config']}: {k['kernel']} spills {k['spilled_bytes']} bytes" for k in kernels if k["spilled_bytes"]]
    wrong += [f"{c['config']}: the wgmma instructions of {k['kernel']} are serialized" for k in kernels if k["wgmma_serialized"]]
if not report["compiler"].startswith(sys.argv[2]):
    wrong.append(f"compiled by {report['compiler']}, not by {sys.argv[2]}")
if not configurations or len(configurations) != report["tried"]:
    wrong.append("nothing was tried, or not all of it is told")
if wrong:
    sys.exit("\n".join(f"{sys.argv[1]}: {line}" for line in wrong))
print(len(configurations))
PY

count=0
build() { # FOLDER ARCH TRIALS COMPILER
  local built
  built="$("$kiln" tune "$1" --target cuda --arch "$2" --until build --trials "$3" --seed 1 --json 2>log |
    python3 look.py "$name for $2 by $4" "$4")" || { cat log >&2; exit 1; }
  count=$((count + built))
}
# Copies that nvcc compiles, side by side as they were: one may take a source from its neighbour.
mkdir -p "$work/by_nvcc"
cp -r "$root"/kernels/* "$work/by_nvcc"
for folder in "${folders[@]}"; do
  name="${folder#"$root/"}"
  by_nvcc="$work/by_nvcc/$(basename "$folder")"
  [ -d "$by_nvcc" ] || cp -r "$folder" "$by_nvcc"
  sed -i 's/^\[target\.cuda\]$/&\ncompile.compiler = "nvcc"/' "$by_nvcc/kernel.toml"
  for arch in sm_80 sm_89 sm_90a; do
    # Kernels of tests are run on one architecture; all others are a user's to run anywhere.
    case "$name $arch" in tests/*sm_8*) continue ;; esac
    # Made of Hopper's own instructions.
    case "$name $arch" in kernels/*_hopper\ sm_8*) continue ;; esac
    # Attention's largest tiles spill, and the compiler's figure decides which: of those only the default is built here, and
    # what is committed below. Where two implementations compete, the default of each.
    case "$name $arch" in tests/*sm_90a) trials=1000 ;; "kernels/attention sm_90a") trials=2 ;; kernels/attention*) trials=1 ;; *sm_90a) trials=6 ;; *sm_89) trials=1 ;; *) trials=3 ;; esac
    build "$folder" "$arch" "$trials" NVRTC
    # What nvcc takes for the oldest and the newest, it takes for the one between.
    case "$name $arch" in *sm_89) continue ;; "kernels/attention sm_90a") trials=2 ;; *) trials=1 ;; esac
    build "$by_nvcc" "$arch" "$trials" nvcc
  done
done

# Each configuration that is committed for an architecture, in every dtype.
cat >tuned.py <<'PY'
import json, os, subprocess, sys, tomllib
from concurrent.futures import ThreadPoolExecutor

kiln, folder = sys.argv[1:]
with open(f"{folder}/results/tuned.toml", "rb") as file:
    tuned = tomllib.load(file)["tuned"]
with open(f"{folder}/kernel.toml", "rb") as file:
    spec = tomllib.load(file)
dtypes = spec["kernel"]["variants"]["T"]
workloads = {own["name"]: own["dims"] for own in spec["workloads"]}
word = lambda value: str(value).lower() if isinstance(value, bool) else str(value)


def workload(entry):
    """The workload an entry is for; one that is compiled alike where the kernel's file has no such shape."""
    if entry["workload"] in workloads:
        return entry["workload"]
    alike = lambda dims: all(dims.get(name) == entry["dims"].get(name) for name in ("D", "CAUSAL"))
    return next(name for name, dims in workloads.items() if alike(dims))


def build(entry, dtype):
    """Builds a committed configuration; what is wrong with that, or nothing."""
    config = ",".join(f"{name}={word(value)}" for name, value in entry["config"].items())
    words = ["--target", "cuda", "--arch", entry["arch"], "--workload", workload(entry), "--variant", f"T={dtype}"]
    words += ["--config", config, "--until", "build", "--json"]
    ran = subprocess.run([kiln, "gate", folder, *words], capture_output=True, text=True)
    said = f"{folder}: {config} for {entry['arch']}, {dtype}"
    try:
        report = json.loads(ran.stdout)
    except ValueError:
        return f"{said}: not a report: {ran.stdout}{ran.stderr}"
    if "passed" not in report:
        return f"{said}: not judged: {ran.stdout}{ran.stderr}"
    kernels = (report.get("build") or {}).get("resources") or []
    if not report["passed"] or not kernels:
        return f"{said}: refused: {ran.stdout}"
    wrong = [f"{said}: {kernel['kernel']} spills {kernel['spilled_bytes']} bytes" for kernel in kernels if kernel["spilled_bytes"]]
    wrong += [f"{said}: {kernel['kernel']}: wgmma is serialized" for kernel in kernels if kernel["wgmma_serialized"]]
    return "\n".join(wrong)


with ThreadPoolExecutor(os.cpu_count()) as pool:
    found = list(pool.map(lambda pair: build(*pair), [(entry, dtype) for entry in tuned for dtype in dtypes]))
wrong = [words for words in found if words]
if wrong:
    sys.exit("\n".join(wrong))
print(len(found))
PY
for folder in "${folders[@]}"; do
  [ -e "$folder/results/tuned.toml" ] || continue
  built="$(python3 tuned.py "$kiln" "$folder")" || { echo "$built" >&2; exit 1; }
  count=$((count + built))
done
echo "${#folders[@]} kernels, $count compilations passed, 0 failed"
