"""What kiln's own checks leave open, on a GPU with PyTorch and nvcc: prove.py [--small] [D NAME=VALUE,... ...]

For each configuration (the default when none is given): the same answer bit for bit a hundred times, tensors whose batches
lie more than 2^31 elements apart, and an answer held against double precision. `--small` does only short shapes once each,
which is what compute-sanitizer has time for. Prints one line for each proof and ends with 1 when one fails."""

import ctypes
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
DEFAULT = dict(BLOCK_M="128", BLOCK_N="64", WARPS="4", STAGES="2", Q_IN_REGS="false", SWIZZLE="xor", KV_BUFFER="shared",
               UNROLL="1", MIN_BLOCKS="1")
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
CUDA = ctypes.CDLL("libcuda.so.1")


def sure(code, what):
    if code:
        raise RuntimeError(f"{what}: CUDA error {code}")


class Kernel:
    """One configuration for heads of one width, built and loaded."""

    def __init__(self, d, config):
        self.d, self.config = d, config
        defines = ["-DT=__nv_bfloat16", "-DT_bf16=1"]
        for name, value in config.items():
            value = {"true": "1", "false": "0"}.get(value, value)
            defines += [f"-D{name}={value}", f"-D{name}_{value}=1"]
        major, minor = torch.cuda.get_device_capability()
        arch = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
        with tempfile.TemporaryDirectory() as work:
            source, cubin = os.path.join(work, "entry.cu"), os.path.join(work, "entry.cubin")
            with open(source, "w") as file:
                file.write(f'#include "{FOLDER}/attention.cu"\n'
                           f"__attribute__((used)) static const auto entry = &flash_attention_forward<{d}>;\n")
            told = subprocess.run([NVCC, "-std=c++17", "-cubin", f"-arch={arch}", "-Xptxas=-v", "-lineinfo", *defines,
                                   "-o", cubin, source], capture_output=True, text=True)
            if told.returncode:
                raise RuntimeError(told.stderr)
            symbol = re.search(r"Compiling entry function '(\w+)'", told.stderr).group(1)
            image = open(cubin, "rb").read()
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        sure(CUDA.cuModuleLoadData(ctypes.byref(module), image), "loading")
        sure(CUDA.cuModuleGetFunction(ctypes.byref(self.function), module, symbol.encode()), "finding the kernel")
        number = lambda name: int(config[name])
        row = 2 * d + (16 if config["SWIZZLE"] == "pad" else 0)
        queries = number("BLOCK_M") * row
        ring = (2 if config["KV_BUFFER"] == "split" else 1) * number("STAGES") * number("BLOCK_N") * row
        self.shared = max(queries, ring) if config["Q_IN_REGS"] == "true" else queries + ring
        sure(CUDA.cuFuncSetAttribute(self.function, 8, self.shared), "asking for shared memory")

    def __call__(self, q, k, v, o, lse, causal):
        (b, h, sq, d), (hk, sk) = q.shape, k.shape[1:3]
        whole = ctypes.c_longlong
        values = [ctypes.c_void_p(t.data_ptr()) for t in (q, k, v, o, lse)]
        values += [ctypes.c_float(1 / math.sqrt(d)), ctypes.c_int(causal)]
        values += [whole(n) for n in (b, h, hk, sq, sk, d, *q.stride()[:3], *k.stride()[:3], *o.stride()[:3])]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
        tiles, at_once = -(-sq // int(self.config["BLOCK_M"])), max(1, min(b * h, (16 << 20) // (4 * sk * d)))
        first, second = (at_once, tiles) if causal else (tiles, at_once)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        sure(CUDA.cuLaunchKernel(self.function, first, second, -(-b * h // at_once), 32 * int(self.config["WARPS"]), 1, 1,
                                 self.shared, stream, pointers, None), "launching")


def right(q, k, v, causal):
    shared = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(shared, 1), v.double().repeat_interleave(shared, 1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        queries, keys = scores.shape[-2:]
        seen = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
        scores = scores.masked_fill(~seen, -math.inf)
    return torch.softmax(scores, -1).nan_to_num() @ v, torch.logsumexp(scores, -1)


def answer(kernel, q, k, v, causal):
    o, lse = torch.full_like(q, math.nan), torch.full(q.shape[:3], math.nan, device="cuda")
    kernel(q, k, v, o, lse, causal)
    torch.cuda.synchronize()
    return o, lse


def off(kernel, q, k, v, causal):
    """The largest error of o and of lse; infinite where one is no number or -inf is not met."""
    (o, lse), (right_o, right_lse) = answer(kernel, q, k, v, causal), right(q, k, v, causal)
    seen = right_lse.isfinite()
    met = bool((lse[~seen] == -math.inf).all()) and bool(lse[seen].isfinite().all())
    worst = (o.double() - right_o).abs().nan_to_num(nan=math.inf).max().item()
    return max(worst, ((lse.double() - right_lse)[seen].abs().max().item() * 100) if seen.any() else 0.0) if met else math.inf


def draw(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def far(*shape):
    """Batches further apart than 32 bits count."""
    b, h, s, d = shape
    apart = (1 << 31) + 4096
    room = torch.empty((b - 1) * apart + h * s * d, device="cuda", dtype=torch.bfloat16)
    tensor = room.as_strided(shape, (apart, s * d, d, 1))
    tensor.copy_(draw(*shape))
    return tensor


def proofs(kernel, small):
    d = kernel.d
    shapes = [(1, 2, 1, 130, 130, 1), (2, 2, 2, 65, 200, 0), (1, 2, 2, 200, 65, 1)]
    for b, h, hk, sq, sk, causal in shapes:
        worst = off(kernel, draw(b, h, sq, d), draw(b, hk, sk, d), draw(b, hk, sk, d), causal)
        yield f"[{b}, {h}/{hk}, {sq} x {sk}] off by {worst:.1e}", worst < 2e-2
    if small:
        return
    q, k, v = far(2, 2, 300, d), far(2, 1, 260, d), far(2, 1, 260, d)
    room = far(2, 2, 300, d)
    lse = torch.empty(2, 2, 300, device="cuda")
    kernel(q, k, v, room, lse, 0)
    worst = (room.double() - right(q, k, v, 0)[0]).abs().nan_to_num(nan=math.inf).max().item()
    yield f"batches 2^31 elements apart: off by {worst:.1e}", worst < 2e-2
    for causal in (0, 1):
        q, k, v = (draw(4, 8, 2000, d) for _ in range(3))
        first = answer(kernel, q, k, v, causal)
        same = all(torch.equal(a, b) for _ in range(100) for a, b in zip(first, answer(kernel, q, k, v, causal)))
        yield f"the same bits a hundred times, causal {causal}", same


def main(words):
    small = "--small" in words
    words = [word for word in words if word != "--small"]
    wanted = list(zip(map(int, words[::2]), words[1::2])) or [(64, ""), (128, "")]
    failed = 0
    for d, text in wanted:
        config = DEFAULT | dict(pair.split("=") for pair in text.split(",") if pair)
        for said, holds in proofs(Kernel(d, config), small):
            print(f"{'holds' if holds else 'FAILS'}  D {d} {text or 'default'}: {said}", flush=True)
            failed |= not holds
    return int(failed)


if __name__ == "__main__":
    torch.zeros(1, device="cuda")
    sys.exit(main(sys.argv[1:]))
