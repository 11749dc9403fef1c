"""Proves an exported attention package on a GPU. In: its folder. Out: one JSON line for each figure,
{"name", "value", "bound", "pass"}; exits with 1 when one does not pass.

    kiln export kernels/attention -o /tmp/attention-export && python scripts/gpu_export.py /tmp/attention-export"""

import ctypes
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

sys.path.insert(0, sys.argv[1] if len(sys.argv) > 1 else "attention-export")
from attention import attention  # noqa: E402

CALLS = 1000
TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 3e-2}
failed = False


def told(name, value, bound, passed):
    global failed
    failed |= not passed
    print(json.dumps({"name": name, "value": value, "bound": bound, "pass": bool(passed)}), flush=True)


def inputs(b, h, hk, sq, sk, d, dtype, layout="bhsd"):
    torch.manual_seed(1)
    def one(heads, length):
        if layout == "bhsd":
            return torch.randn(b, heads, length, d, device="cuda", dtype=dtype)
        return torch.randn(b, length, heads, d, device="cuda", dtype=dtype).transpose(1, 2)
    return one(h, sq), one(hk, sk), one(hk, sk)


def right(q, k, v, causal, scale=None):
    """In double precision; the mask ends at the bottom right."""
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    mask = None
    if causal:
        rows, columns = q.shape[2], k.shape[2]
        mask = torch.ones(rows, columns, dtype=torch.bool, device=q.device).tril(columns - rows)
    return sdpa(q, k, v, attn_mask=mask, scale=scale)


def off(found, wanted):
    return (found.double() - wanted.double()).abs().max().item()


def correct():
    shapes = [(4, 8, 8, 512, 512, 64), (1, 1, 1, 128, 128, 64), (2, 12, 4, 777, 777, 64), (3, 6, 2, 113, 211, 128),
              (1, 16, 16, 1024, 1024, 128), (1, 2, 2, 65, 65, 64)]
    for dtype in (torch.float16, torch.bfloat16):
        for shape in shapes:
            for causal in (False, True):
                for layout in ("bhsd", "bshd"):
                    q, k, v = inputs(*shape, dtype, layout)
                    words = "x".join(map(str, shape)) + (" causal" if causal else "") + " %s %s" % (layout, str(dtype)[6:])
                    made = attention(q, k, v, causal=causal)
                    value = off(made, right(q, k, v, causal))
                    told("error against double precision: " + words, value, TOLERANCE[dtype], value <= TOLERANCE[dtype])
                    if shape[3] == shape[4]:
                        theirs = sdpa(q, k, v, is_causal=causal, enable_gqa=shape[1] != shape[2])
                        value = off(made, theirs)
                        told("difference from SDPA: " + words, value, 2 * TOLERANCE[dtype], value <= 2 * TOLERANCE[dtype])
    q, k, v = inputs(2, 4, 4, 256, 256, 64, torch.bfloat16)
    value = off(attention(q, k, v, scale=0.5), right(q, k, v, False, 0.5))
    told("error with scale=0.5", value, 3e-2, value <= 3e-2)
    # Strides that the kernel does not take, and an address that is not a multiple of 16.
    turned = torch.randn(2, 4, 64, 256, device="cuda", dtype=torch.bfloat16).transpose(2, 3)
    value = off(attention(turned, k, v), right(turned, k, v, False))
    told("error with foreign strides", value, 3e-2, value <= 3e-2)
    # More than 2^31 elements in each tensor: the first head and the last ones.
    for shape in [(2100, 32, 32, 512, 512, 64), (260, 32, 32, 4096, 4096, 64), (130, 32, 32, 4096, 4096, 128)]:
        q, k, v = inputs(*shape, torch.bfloat16)
        made = attention(q, k, v, causal=True)
        ends = [0, shape[0] - 1]
        value = max(off(made[i:i + 1, -2:], right(*(t[i:i + 1, -2:] for t in (q, k, v)), True)) for i in ends)
        told("error beyond 2^31 elements: " + "x".join(map(str, shape)), value, 3e-2, value <= 3e-2)
        del q, k, v, made
        torch.cuda.empty_cache()
    q, k, v = inputs(2, 4, 4, 256, 256, 64, torch.bfloat16)
    moved = torch.randn(2 * 4 * 256 * 64 + 1, device="cuda", dtype=torch.bfloat16)[1:].view(2, 4, 256, 64)
    value = off(attention(moved, k, v), right(moved, k, v, False))
    told("error with an unaligned input", value, 3e-2, value <= 3e-2)


def compiled():
    q, k, v = inputs(4, 8, 8, 512, 512, 64, torch.bfloat16)
    run = torch.compile(lambda q, k, v: attention(q, k, v, causal=True) * 2, fullgraph=True)
    value = off(run(q, k, v), right(q, k, v, True) * 2)
    told("error under torch.compile, fullgraph", value, 6e-2, value <= 6e-2)
    q, k, v = inputs(4, 8, 8, 640, 640, 64, torch.bfloat16)
    value = off(run(q, k, v), right(q, k, v, True) * 2)
    told("error under torch.compile, another shape", value, 6e-2, value <= 6e-2)


def captured():
    q, k, v = inputs(4, 8, 8, 512, 512, 64, torch.bfloat16)
    attention(q, k, v)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = attention(q, k, v)
    other = inputs(4, 8, 8, 512, 512, 64, torch.bfloat16)
    for own, new in zip((q, k, v), other):
        own.copy_(new.flip(0))
    graph.replay()
    torch.cuda.synchronize()
    value = off(made, right(q, k, v, False))
    told("error in a CUDA graph, inputs changed after capture", value, 3e-2, value <= 3e-2)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        made = attention(q, k, v)
    side.synchronize()
    value = off(made, right(q, k, v, False))
    told("error on another stream", value, 3e-2, value <= 3e-2)
    # Two graphs of one shape, replayed at the same time many times: each must have what it keeps from launch to launch for itself.
    streams, graphs, outs = [torch.cuda.Stream(), torch.cuda.Stream()], [], []
    q, k, v = inputs(4, 8, 8, 2048, 2048, 64, torch.bfloat16)
    wanted = attention(q, k, v, causal=True)
    for _ in streams:
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            outs.append(attention(q, k, v, causal=True))
    same = True
    for _ in range(100):
        torch.cuda.synchronize()
        for made in outs:
            made.zero_()
        torch.cuda.synchronize()
        for graph, stream in zip(graphs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
        torch.cuda.synchronize()
        same &= all(torch.equal(made, wanted) for made in outs)
    told("two graphs replayed at once", same, True, same)


def refused(words, call):
    """Whether a call ends with these words."""
    try:
        call()
    except Exception as error:
        told("refused: " + words, str(error)[:200], words, words in str(error))
    else:
        told("refused: " + words, "not refused", words, False)


def odd():
    """Calls without keys or queries, calls that break a rule, gradients, and the caller's current device."""
    q, k, v = inputs(2, 4, 4, 128, 128, 64, torch.bfloat16)
    none = attention(q, k[:, :, :0], v[:, :, :0])
    told("without keys, zeros", none.abs().max().item(), 0.0, none.shape == q.shape and not none.any().item())
    told("without queries, nothing", tuple(attention(q[:, :, :0], k, v).shape), (2, 4, 0, 64), True)
    refused("H % HK == 0", lambda: attention(q, k[:, :3], v[:, :3]))
    refused("scale >= 0", lambda: attention(q, k, v, scale=-1.0))
    refused("expected True or False", lambda: attention(q, k, v, causal=0.5))
    refused("expected a torch tensor", lambda: attention(q, None, v))
    needs = q.detach().clone().requires_grad_()
    refused("requires a gradient", lambda: attention(needs, k, v))
    refused("no backward", lambda: torch.compile(lambda q: attention(q, k, v).sum())(needs).backward())
    many = torch.randn(70000, 1, 16, 64, device="cuda", dtype=torch.bfloat16)
    value = off(attention(many, many, many)[-2:], right(many[-2:], many[-2:], many[-2:], False))
    told("error with a batch of 70,000", value, 3e-2, value <= 3e-2)
    if torch.cuda.device_count() > 1:
        attention(*(t.to("cuda:1") for t in (q, k, v)))
        told("current device after a call on another", torch.cuda.current_device(), 0, torch.cuda.current_device() == 0)


def median_us(call):
    """Median time of one call to its end, the synchronisation included."""
    for _ in range(100):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def issue_us(call):
    """Mean time between calls when none waits: what a program that launches ahead sees."""
    for _ in range(100):
        call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / CALLS * 1e6


def empty():
    """Launches a kernel that does nothing: what a call to its end takes at the least here."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/empty.cu", "w") as file:
            file.write('extern "C" __global__ void empty() {}')
        subprocess.run([shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc", "-cubin", "-arch=native", "-o", folder + "/empty.cubin", folder + "/empty.cu"], check=True)
        image = open(folder + "/empty.cubin", "rb").read()
    driver, module, function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuModuleLoadData(ctypes.byref(module), image) or driver.cuModuleGetFunction(ctypes.byref(function), module, b"empty"):
        raise RuntimeError("the empty kernel could not be loaded")
    words = [function] + [ctypes.c_uint(1)] * 6 + [ctypes.c_uint(0), None, None, None]
    return lambda: driver.cuLaunchKernel(*words)


def timed():
    q, k, v = inputs(4, 8, 8, 512, 512, 64, torch.bfloat16)
    operation = torch.ops.kiln_attention.attention
    with torch.no_grad():
        calls = {"direct": lambda: attention(q, k, v), "custom op": lambda: operation(q, k, v), "SDPA": lambda: sdpa(q, k, v), "empty": empty()}
        times = {name: [] for name in calls}
        for _ in range(3):
            for name, call in calls.items():
                times[name].append(median_us(call))
        times = {name: min(found) for name, found in times.items()}
        ahead = {name: min(issue_us(call) for _ in range(3)) for name, call in calls.items()}
    told("end to end, us: eager SDPA", round(times["SDPA"], 2), None, True)
    told("end to end, us: an empty kernel", round(times["empty"], 2), None, True)
    told("end to end, us: direct", round(times["direct"], 2), round(times["SDPA"] / 2, 2), times["direct"] <= times["SDPA"] / 2)
    told("end to end, us: custom op", round(times["custom op"], 2), round(times["SDPA"], 2), times["custom op"] <= times["SDPA"])
    for name, value in ahead.items():
        told("launched ahead, us: " + name, round(value, 2), None, True)


correct()
compiled()
captured()
odd()
timed()
sys.exit(failed)
