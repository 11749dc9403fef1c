#!/usr/bin/env bash
# Makes the texts of kiln's own kernels, .ptx beside .cu, which the driver compiles for the GPU it finds. Needs nvcc 13.0
# (NVCC names it; pip's nvidia-cuda-nvcc will do). With --check nothing is written: status 1 where a text is not its source's.
set -euo pipefail
cd "$(dirname "$0")/.."
check=0
[ "${1:-}" != --check ] || check=1
for source in crates/kiln-run/src/cuda/draw.cu crates/kiln-bench/src/questions/reference/attention.cu; do
  # compute_80 is the oldest architecture kiln has GPU targets for. Comments name folders. Nothing in them needs a newer PTX
  # than 8.7 (CUDA 12.8), and drivers as old as kiln takes read that too.
  text="$("${NVCC:-nvcc}" -ptx -arch=compute_80 -std=c++17 -o - "$source" | sed '/^\/\//d; /^$/d; s/^\.version .*/.version 8.7/')"
  if [ "$check" = 1 ]; then
    diff <(echo "$text") "${source%.cu}.ptx" > /dev/null || { echo "${source%.cu}.ptx is not what $source gives: run scripts/ptx.sh" >&2; exit 1; }
  else
    echo "$text" > "${source%.cu}.ptx"
  fi
done
