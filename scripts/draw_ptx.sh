#!/usr/bin/env bash
# Makes crates/kiln-run/src/cuda/draw.ptx from draw.cu. Needs nvcc 13.0 (NVCC names it; pip's nvidia-cuda-nvcc will do).
# compute_80 is the oldest architecture kiln has GPU targets for; the driver compiles the text for the GPU it finds.
set -euo pipefail
cd "$(dirname "$0")/../crates/kiln-run/src/cuda"
# Comments name folders. Nothing in it needs a newer PTX than 8.7 (CUDA 12.8), and drivers as old as kiln takes read that too.
"${NVCC:-nvcc}" -ptx -arch=compute_80 -std=c++17 -o - draw.cu | sed '/^\/\//d; /^$/d; s/^\.version .*/.version 8.7/' > draw.ptx
