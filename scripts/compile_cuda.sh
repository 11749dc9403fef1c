#!/usr/bin/env bash
# Compiles the CUDA kernel that `kiln init` writes, in several configurations of its own space, for three architectures.
# $NVCC names the compiler (default: nvcc on the PATH). No GPU is needed.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
nvcc="${NVCC:-nvcc}"
case "$nvcc" in /*) ;; */*) nvcc="$root/$nvcc" ;; esac
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

kiln="${CARGO_TARGET_DIR:-$root/target}/release/kiln"
"$kiln" init sample >/dev/null
count=0
for arch in sm_80 sm_89 sm_90a; do
  while read -r config; do
    # NAME=VALUE,... to -DNAME=VALUE; booleans are 0 and 1 in C.
    flags=$(echo "-D${config//,/ -D}" | sed 's/=true/=1/g; s/=false/=0/g')
    # shellcheck disable=SC2086
    "$nvcc" -arch="$arch" -std=c++17 -cubin $flags -o sample.cubin sample/sample.cu
    count=$((count + 1))
  done < <("$kiln" space sample --target cuda --arch "$arch" --sample 3)
done
# A listing that failed would otherwise look like nothing to do.
[ "$count" = 9 ] || { echo "expected 9 compilations, made $count" >&2; exit 1; }
echo "$count passed, 0 failed"
