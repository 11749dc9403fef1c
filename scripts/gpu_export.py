"""Proves an exported attention package on a GPU. In: its folder. Out: one JSON line for each figure,
{"name", "value", "bound", "pass"}; exits with 1 when one does not pass.

    kiln export kernels/attention -o /tmp/attention-export && python scripts/gpu_export.py /tmp/attention-export"""

import ctypes
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

sys.path.insert(0, sys.argv[1] if len(sys.argv) > 1 else "attention-export")
from attention import attention  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kernels/attention"))
from sweep import FURTHER, SHAPES  # noqa: E402

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


def unusual():
    """Values, lengths and layouts that few programs have: of each group the worst error over the tolerance is told."""
    worst = {}

    def held(group, made, wanted):
        lost = made.shape != wanted.shape or not torch.equal(made.isnan(), wanted.isnan())
        value = float("inf") if lost else off(made.nan_to_num(), wanted.nan_to_num()) / TOLERANCE[made.dtype]
        worst[group] = max(worst.get(group, 0.0), value)

    for dtype in TOLERANCE:
        for d in (64, 128, 256):
            for causal in (False, True):
                for sq, sk in ((200, 200), (300, 130), (70, 520), (1, 333)):
                    q, k, v = inputs(2, 4, 2, sq, sk, d, dtype)
                    for scale in (0.0, 1e-30, 4.0):
                        held(f"a scale of {scale:g}", attention(q, k, v, causal=causal, scale=scale), right(q, k, v, causal, scale))
                    # Of these keys every score is beyond what a float holds: -inf there, and a weight of 0.
                    for name, hidden in (("first", slice(0, min(sk - 1, 192))), ("second", slice(0, sk, 2)), ("all but one", slice(0, sk - 1))):
                        far, ahead = k.clone(), q.clone()
                        far[..., 0], ahead[..., 0] = 0.0, 60000.0 if dtype == torch.float16 else 1e30
                        far[:, :, hidden, 0] = -ahead[0, 0, 0, 0]
                        sees = torch.ones(sk, dtype=torch.bool)
                        sees[hidden] = False
                        ends = [row + sk - sq + 1 if causal else sk for row in range(sq)]
                        rows = torch.tensor([bool(sees[: max(0, end)].any()) for end in ends], device="cuda")
                        held(f"scores of -inf for keys: {name}", attention(ahead, far, v, causal=causal)[:, :, rows], right(ahead, far, v, causal)[:, :, rows])
                    bad = k.clone()
                    bad[0] = float("nan")
                    held("NaN in another batch", attention(q, bad, v, causal=causal)[1:], right(q[1:], k[1:], v[1:], causal))
    # Lengths about every edge of a tile, heads that share keys, tensors that are parts of others.
    random.seed(3)
    edges = [1, 2, 15, 16, 17, 47, 63, 64, 65, 79, 81, 111, 127, 128, 129, 191, 193, 255, 257, 383, 385]
    for _ in range(240):
        dtype, d, causal = random.choice(list(TOLERANCE)), random.choice((64, 128, 256)), random.random() < 0.5
        b, hk, group, sq, sk = random.randint(1, 3), random.randint(1, 3), random.choice((1, 2, 3, 8)), random.choice(edges), random.choice(edges)
        q, k, v = inputs(b, hk * group, hk, sq, sk, d, dtype, random.choice(("bhsd", "bshd")))
        held("lengths about the edges of tiles", attention(q, k, v, causal=causal), right(q, k, v, causal))
        packed = torch.randn(b, sk, 3, hk, d, device="cuda", dtype=dtype)
        q, k, v = (packed[:, :, part].transpose(1, 2) for part in range(3))
        held("parts of one packed tensor", attention(q, k, v, causal=causal), right(q, k, v, causal))
        k, v = (t[:1, :1].expand(b, hk, sk, d) for t in (k, v))
        held("keys expanded over heads and batch", attention(q, k, v, causal=causal), right(q, k, v, causal))
    for group, value in worst.items():
        told(f"error over tolerance: {group}", value, 1.0, value <= 1.0)


def reruns():
    """A hundred runs of each tuned shape in both types: the same bits."""
    moved = []
    for name, (b, h, hk, sq, sk, d, causal) in {**SHAPES, **FURTHER}.items():
        for dtype in TOLERANCE:
            q, k, v = inputs(b, h, hk, sq, sk, d, dtype)
            first = attention(q, k, v, causal=bool(causal))
            same = all(torch.equal(first, attention(q, k, v, causal=bool(causal))) for _ in range(100))
            if not same or first.isnan().any():
                moved.append(f"{name} {str(dtype)[6:]}")
    told("shapes whose bits differ in a hundred reruns" + "".join(f", {name}" for name in moved), len(moved), 0, not moved)


def together():
    """Threads, streams and graphs at the same time, each with inputs of its own; every answer must have the bits of one alone."""
    shapes = [(4, 8, 8, 1024, 1024, 64), (2, 16, 4, 4096, 4096, 128), (1, 1, 1, 128, 128, 64), (4, 8, 8, 2048, 2048, 64)]
    jobs = []
    for number in range(8):
        torch.manual_seed(number)
        q, k, v = (t + number for t in inputs(*shapes[number % 4], torch.bfloat16))
        jobs.append((q, k, v, number % 2 == 1, attention(q, k, v, causal=number % 2 == 1)))
    torch.cuda.synchronize()
    wrong = []

    def work(number, call):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            made = [call() for _ in range(30)]
        stream.synchronize()
        wrong.extend(number for one in made if not torch.equal(one, jobs[number][4]))

    def at_once(calls):
        threads = [threading.Thread(target=work, args=item) for item in enumerate(calls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    at_once([lambda q=q, k=k, v=v, causal=causal: attention(q, k, v, causal=causal) for q, k, v, causal, _ in jobs])
    told("answers that differ beside other threads and streams", len(wrong), 0, not wrong)
    wrong.clear()
    graphs = []
    for q, k, v, causal, _ in jobs:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            made = attention(q, k, v, causal=causal)
        graphs.append((graph, made))
    for _ in range(20):
        streams = [torch.cuda.Stream() for _ in graphs]
        for (graph, made), stream in zip(graphs, streams):
            made.fill_(float("nan"))
        torch.cuda.synchronize()
        for (graph, made), stream in zip(graphs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
        torch.cuda.synchronize()
        wrong.extend(number for number, (_, made) in enumerate(graphs) if not torch.equal(made, jobs[number][4]))
    told("answers that differ from graphs replayed at once", len(wrong), 0, not wrong)


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
    shape = tuple(attention(q[:, :, :0], k, v).shape)
    told("without queries, nothing", shape, (2, 4, 0, 64), shape == (2, 4, 0, 64))
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
unusual()
reruns()
compiled()
captured()
odd()
together()
timed()
sys.exit(failed)
