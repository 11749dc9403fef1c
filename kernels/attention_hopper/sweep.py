"""Checks and times configurations by hand, against PyTorch's scaled_dot_product_attention.

    sweep.py build FOLDER LIST    anywhere with nvcc: compiles the configurations of LIST into FOLDER
    sweep.py run FOLDER           on a GPU with PyTorch: checks each, then times it

A line of LIST is `D NAME=VALUE,... SHAPE,... [f16]`; omitted tunables take the values of BASE below, shapes are those of
SHAPES. Every configuration is held against double precision on 18 shapes and inputs and must give the same bits three
times. A wrong one is not timed. Times are medians of interleaved rounds; in each, a CUDA graph launches the kernel on
inputs that together exceed the L2 cache, then another graph does so with PyTorch. A configuration that hangs is killed."""

import ctypes
import json
import math
import os
import queue
import re
import subprocess
import sys
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))
BASE = dict(CONSUMERS=2, BLOCK_N=128, STAGES=2, OVERLAP=1, QUARTERS=4, PINGPONG=0, Q_IN_REGS=0, SCHEDULE="single", POLY=0,
            MIN_BLOCKS=1, L2_MB=16)
# B, H, S, D, causal
SHAPES = {
    "tiny32": (1, 1, 32, 64, 0), "tiny128": (1, 1, 128, 64, 0),
    "s512": (4, 8, 512, 64, 0), "s512c": (4, 8, 512, 64, 1), "s1024": (4, 8, 1024, 64, 0), "s1024c": (4, 8, 1024, 64, 1),
    "s2048": (4, 8, 2048, 64, 0), "s2048c": (4, 8, 2048, 64, 1), "s4096": (4, 32, 4096, 64, 0), "s4096c": (4, 32, 4096, 64, 1),
    "w4096": (4, 16, 4096, 128, 0), "w4096c": (4, 16, 4096, 128, 1),
    "w16k": (1, 16, 16384, 128, 0), "w16kc": (1, 16, 16384, 128, 1),
    "x4096": (4, 8, 4096, 256, 0), "x4096c": (4, 8, 4096, 256, 1),
}
# B, H, HK, SQ, SK, causal, and what the inputs are: normal, with rows of all heads together (bshd), times 8, or with
# maxima that rise or fall along the keys.
CHECKS = [
    (1, 1, 1, 64, 64, 0, "normal"), (1, 1, 1, 1, 1, 0, "normal"), (1, 2, 2, 65, 200, 0, "normal"),
    (1, 2, 1, 300, 300, 1, "normal"), (1, 2, 2, 70, 150, 1, "bshd"), (1, 2, 2, 200, 65, 1, "normal"),
    (3, 6, 2, 1, 513, 0, "normal"), (2, 3, 3, 1023, 1024, 1, "normal"), (2, 3, 1, 1000, 1500, 0, "bshd"),
    (1, 3, 3, 2048, 2048, 1, "normal"), (4, 40, 40, 500, 400, 0, "normal"), (4, 40, 8, 500, 500, 1, "normal"),
    (2, 6, 1, 799, 3, 1, "normal"), (3, 6, 6, 239, 1, 0, "bshd"),
    (1, 2, 2, 700, 900, 0, "eight"), (1, 2, 2, 900, 900, 1, "eight"), (1, 2, 2, 700, 900, 0, "rising"),
    (1, 2, 2, 700, 900, 0, "falling"),
]
SECONDS = 12  # without a word from a configuration: it hangs
ROUNDS = 7


def build(folder, path):
    """Compiles what the list names, and writes jobs.json."""
    nvcc = os.environ.get("NVCC", "nvcc")
    os.makedirs(folder, exist_ok=True)
    jobs = []
    for line in open(path):
        words = line.split("#")[0].split()
        if not words:
            continue
        dtype, config = "f16" if "f16" in words[3:] else "bf16", dict(BASE)
        for name, value in (pair.split("=") for pair in words[1].split(",")):
            config[name] = int(value) if value.isdigit() else {"true": 1, "false": 0}.get(value, value)
        defines = [f"-DT_{dtype}=1", "-DT=" + ("__half" if dtype == "f16" else "__nv_bfloat16")]
        defines += [word for n, v in config.items() for word in (f"-D{n}={v}", f"-D{n}_{v}=1")]
        source, cubin = os.path.join(folder, "entry.cu"), f"{len(jobs)}.cubin"
        with open(source, "w") as file:
            file.write(f'#include "{FOLDER}/attention_hopper.cu"\n'
                       f"__attribute__((used)) static const auto entry = &attention_hopper_forward<{words[0]}>;\n")
        made = subprocess.run([nvcc, "-std=c++17", "-cubin", "-gencode", "arch=compute_90a,code=sm_90a", "-Xptxas=-v",
                               "-lineinfo", *defines, "-o", os.path.join(folder, cubin), source], capture_output=True, text=True)
        said = made.stdout + made.stderr
        if made.returncode:
            sys.exit(said)
        if "serialized" in said or " 0 bytes spill stores" not in said:
            print(f"{words[0]} {words[1]}: spills, or its products are serialized")
        symbol = re.search(r"Compiling entry function '(\w+)'", said).group(1)
        jobs.append(dict(name=f"D {words[0]} {words[1]} {dtype}", d=int(words[0]), dtype=dtype, config=config, cubin=cubin,
                         symbol=symbol, shapes=words[2].split(",")))
    os.remove(source)
    json.dump(jobs, open(os.path.join(folder, "jobs.json"), "w"))
    print(len(jobs), "built")


def run(folder):
    """Runs the jobs in a process that is replaced when one hangs or dies."""
    jobs = json.load(open(os.path.join(folder, "jobs.json")))
    at = 0
    while at < len(jobs):
        child = subprocess.Popen([sys.executable, "-u", __file__, "from", folder, str(at)], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        lines = queue.Queue()

        def pump(stream=child.stdout, lines=lines):
            for line in stream:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=pump, daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=SECONDS)
            except queue.Empty:
                line = None
                child.kill()
            if line is None:
                break
            if line.startswith("done "):
                at = int(line.split()[1]) + 1
            else:
                print(line, end="", flush=True)
        if child.wait() and at < len(jobs):
            print(f"HANGS OR DIES: {jobs[at]['name']}", flush=True)
            at += 1


def run_from(folder, start):
    import torch
    import torch.nn.functional as functional

    cuda = ctypes.CDLL("libcuda.so.1")
    torch.zeros(1, device="cuda")
    dtypes = {"f16": torch.float16, "bf16": torch.bfloat16}

    def sure(code, what):
        if code:
            raise RuntimeError(f"{what}: CUDA error {code}")

    def describe(tensor, rows):
        """A TMA descriptor with boxes of 64 columns. Returns what must live as long as it, and its address."""
        (b, h, s, d), strides = tensor.shape, tensor.stride()
        buffer = ctypes.create_string_buffer(128 + 64)
        at = (ctypes.addressof(buffer) + 63) // 64 * 64
        kind = 6 if tensor.dtype == torch.float16 else 9
        sure(cuda.cuTensorMapEncodeTiled(
            ctypes.c_void_p(at), kind, 4, ctypes.c_void_p(tensor.data_ptr()), (ctypes.c_uint64 * 4)(d, s, h, b),
            (ctypes.c_uint64 * 3)(*(2 * strides[i] for i in (2, 1, 0))), (ctypes.c_uint32 * 4)(64, rows, 1, 1),
            (ctypes.c_uint32 * 4)(1, 1, 1, 1), 0, 3, 3, 0), "describing a tensor")
        return buffer, at

    class Kernel:
        def __init__(self, job):
            c = self.config = job["config"]
            self.d, self.dtype, self.rows = job["d"], dtypes[job["dtype"]], 64 * c["CONSUMERS"]
            module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
            image = open(os.path.join(folder, job["cubin"]), "rb").read()
            sure(cuda.cuModuleLoadData(ctypes.byref(module), image), "loading")
            sure(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, job["symbol"].encode()), "finding")
            self.shared = (self.rows + 2 * c["STAGES"] * c["BLOCK_N"]) * self.d * 2 + 256
            self.threads = 128 * c["CONSUMERS"] + (32 if c["CONSUMERS"] == 1 else 128)
            sure(cuda.cuFuncSetAttribute(self.function, 8, self.shared), "asking for shared memory")

        def launcher(self, q, k, v, o, lse, causal):
            (b, h, sq, d), (hk, sk), c = q.shape, k.shape[1:3], self.config
            maps = [describe(q, self.rows), describe(k, c["BLOCK_N"]), describe(v, c["BLOCK_N"])]
            before = [ctypes.c_void_p(t.data_ptr()) for t in (q, k, v, o, lse)]
            after = [ctypes.c_float(1 / math.sqrt(d)), ctypes.c_int(causal)]
            after += [ctypes.c_longlong(n) for n in (b, h, hk, sq, sk, *o.stride()[:3])]
            places = [ctypes.addressof(x) for x in before] + [m[1] for m in maps] + [ctypes.addressof(x) for x in after]
            pointers, tiles = (ctypes.c_void_p * len(places))(*places), -(-sq // self.rows)
            grid = (min(b * h * tiles, 132 * c["MIN_BLOCKS"]), 1, 1)
            if c["SCHEDULE"] == "single":
                grid = (h, tiles, b) if causal else (tiles, h, b)

            def launch(keep=(maps, before, after)):
                stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
                sure(cuda.cuLaunchKernel(self.function, *grid, self.threads, 1, 1, self.shared, stream, pointers, None),
                     "launching")
            return launch

    def right(q, k, v, causal):
        shared = q.shape[1] // k.shape[1]
        q, k, v = q.double(), k.double().repeat_interleave(shared, 1), v.double().repeat_interleave(shared, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            queries, keys = scores.shape[-2:]
            seen = torch.ones(queries, keys, dtype=torch.bool, device="cuda").tril(keys - queries)
            scores = scores.masked_fill(~seen, -math.inf)
        return torch.softmax(scores, -1).nan_to_num() @ v, torch.logsumexp(scores, -1)

    known = {}

    def question(d, dtype, i):
        if (d, dtype, i) not in known:
            b, h, hk, sq, sk, causal, kind = CHECKS[i]
            torch.manual_seed(i + d)
            sizes = ((sq, h), (sk, hk), (sk, hk))
            if kind == "bshd":
                q, k, v = (torch.randn(b, s, n, d, device="cuda").transpose(1, 2) for s, n in sizes)
            else:
                q, k, v = (torch.randn(b, n, s, d, device="cuda") for s, n in sizes)
            if kind == "eight":
                q, k = q * 8, k * 8
            if kind in ("rising", "falling"):  # logits from 0 to 300
                way = torch.randn(d, device="cuda")
                way /= way.norm()
                ramp = torch.linspace(0, 300, sk, device="cuda") * math.sqrt(d) / 8
                k = k * 0.1 + (ramp if kind == "rising" else ramp.flip(0))[:, None] * way
                q = q * 0.1 + 8 * way
            q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
            known[d, dtype, i] = (q, k, v, *right(q, k, v, causal))
        return known[d, dtype, i]

    def check(kernel):
        """The largest relative error in the L2 norm, and what is wrong."""
        worst, wrong = 0.0, []
        for i, (*_, causal, kind) in enumerate(CHECKS):
            q, k, v, right_o, right_lse = question(kernel.d, kernel.dtype, i)
            o, lse = torch.full_like(q, math.nan), torch.full(q.shape[:3], math.nan, device="cuda")
            launch, answers = kernel.launcher(q, k, v, o, lse, causal), []
            for _ in range(3):
                launch()
                torch.cuda.synchronize()
                answers.append((o.clone(), lse.clone()))
            if not all(torch.equal(a[j], answers[0][j]) for a in answers for j in (0, 1)):
                wrong.append(f"{CHECKS[i]}: its bits move")
            seen = right_lse.isfinite()
            error = ((o.double() - right_o).norm() / right_o.norm()).item()
            off = ((lse.double() - right_lse)[seen].abs() / (1e-4 + 1e-5 * right_lse[seen].abs())).max().item()
            limit = (3.2e-3 if kernel.dtype == torch.bfloat16 else 4e-4) * (1 if kind in ("normal", "bshd") else 2)
            if not (error < limit and off < 1 and bool((lse[~seen] == -math.inf).all())):
                wrong.append(f"{CHECKS[i]}: o off by {error:.1e}, lse by {off:.1e} of what is allowed")
            worst = max(worst, error)
        return worst, wrong

    def record(calls):
        calls[0]()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        return graph

    def time_of(graph, calls):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / calls * 1e3

    rivals = {}

    def rival(name, dtype):
        """Inputs of a shape, how many calls a graph has, PyTorch's graph, and operations of one call."""
        if (name, dtype) not in rivals:
            b, h, s, d, causal = SHAPES[name]
            sets = []
            for _ in range(max(1, min(24, int(150e6 // (8 * b * h * s * d))))):
                q, k, v = (torch.randn(b, h, s, d, device="cuda", dtype=dtype) for _ in range(3))
                sets.append((q, k, v, torch.empty_like(q), torch.empty(b, h, s, device="cuda")))
            flops = 4 * b * h * s * s * d / (2 if causal else 1)
            calls = max(len(sets), min(48, int(4e-3 / (flops / 5e14 + 4e-6))))
            sdpa = [lambda t=sets[i % len(sets)]: functional.scaled_dot_product_attention(*t[:3], is_causal=bool(causal))
                    for i in range(calls)]
            rivals[name, dtype] = (sets, calls, record(sdpa), flops)
        return rivals[name, dtype]

    jobs = json.load(open(os.path.join(folder, "jobs.json")))
    for number in range(start, len(jobs)):
        job = jobs[number]
        kernel = Kernel(job)
        worst, wrong = check(kernel)
        print(f"{job['name']}: " + (f"correct, {worst:.1e}" if not wrong else "WRONG " + "; ".join(wrong[:4])), flush=True)
        for name in job["shapes"] if not wrong else []:
            sets, calls, other, flops = rival(name, kernel.dtype)
            mine = record([kernel.launcher(*sets[i % len(sets)], SHAPES[name][4]) for i in range(calls)])
            times = [(time_of(mine, calls), time_of(other, calls)) for _ in range(ROUNDS + 1)][1:]
            ours, theirs = (sorted(t[i] for t in times)[ROUNDS // 2] for i in (0, 1))
            print(f"    {name:8s} {ours:9.2f} us {flops / ours / 1e6:4.0f} TFLOP/s, PyTorch {theirs:9.2f} us: "
                  f"{theirs / ours:.3f}x", flush=True)
        print(f"done {number}", flush=True)


if __name__ == "__main__":
    action, arguments = sys.argv[1], sys.argv[2:]
    if action == "build":
        build(*arguments)
    elif action == "run":
        run(*arguments)
    else:
        run_from(arguments[0], int(arguments[1]))
