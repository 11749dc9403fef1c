"""Checks and times configurations by hand, against PyTorch's matmul (cuBLAS).

    sweep.py build FOLDER LIST           anywhere with nvcc: compiles the configurations of LIST into FOLDER
    sweep.py run FOLDER SECONDS [OUT]    on a GPU with PyTorch: checks each, then times it; ends after SECONDS
    sweep.py once FOLDER NUMBER SHAPE    the same: launches one of them and PyTorch three times each, for a profiler

A line of LIST is `NAME=VALUE,... SHAPE,...`; omitted tunables take the values of BASE below, shapes are those of SHAPES.
Every configuration is held against double precision on the shapes of CHECKS, must leave the memory behind c alone and must
give the same bits three times. A wrong one is not timed. Times are medians of interleaved rounds; in each, a CUDA graph
launches the kernel on inputs that together exceed the L2 cache, then another graph does so with PyTorch. A configuration
that hangs is killed. OUT gets the lines printed (sweep.txt), one JSON object for each time (sweep.jsonl), and the GPU's clock
and power (clocks.csv)."""

import ctypes
import json
import os
import queue
import subprocess
import sys
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
BASE = dict(CONSUMERS=2, TALL=1, BLOCK_N=256, BLOCK_K=64, STAGES=4, PENDING=1, PINGPONG=0, CLUSTER_M=2, CLUSTER_N=1, GROUP_M=8,
            STORE_BUFFERS=2, MIN_BLOCKS=1, SPLIT=0)
# M, N, K
SHAPES = {
    "s512": (512, 512, 512), "s1024": (1024, 1024, 1024), "s2048": (2048, 2048, 2048), "s4096": (4096, 4096, 4096),
    "s8192": (8192, 8192, 8192), "tall": (8192, 4096, 2048), "ragged": (4000, 4104, 3992), "odd_tiles": (3000, 5000, 2040),
    "few_rows": (64, 8192, 8192), "deep": (512, 512, 16384), "wide": (2048, 11008, 4096), "ragged2": (5000, 3000, 4000),
}
# Sizes no tile divides, less than a tile, one step, several tiles for each block, rows that begin between multiples of 16 bytes.
CHECKS = [
    (256, 256, 256), (8, 8, 8), (40, 24, 8), (331, 472, 328), (1024, 1024, 1024), (2000, 1544, 520), (3000, 2904, 264),
    (2048, 4096, 64), (2500, 6200, 136), (128, 256, 4096), (1, 8, 4096),
    (1, 1, 1), (1, 300, 33), (131, 67, 259), (257, 129, 65), (70, 75, 136), (70, 136, 75), (513, 777, 1000),
]
HANGS = 8  # seconds without a word from a configuration
STARTS = 40  # seconds until the first one
ROUNDS = 15


def build(folder, path):
    """Compiles what the list names, and writes jobs.json."""
    nvcc = os.environ.get("NVCC", "nvcc")
    os.makedirs(folder, exist_ok=True)
    jobs, built = [], {}
    for line in open(path):
        words = line.split("#")[0].split()
        if not words:
            continue
        config = dict(BASE)
        for pair in words[0].split(",") if words[0] != "default" else []:
            name, value = pair.split("=")
            assert name in config, name
            config[name] = int(value)
        key = json.dumps(config)
        if key not in built:
            cubin = f"{len(built)}.cubin"
            defines = ["-DT=__nv_bfloat16"] + [f"-D{n}={v}" for n, v in config.items()]
            made = subprocess.run([nvcc, "-std=c++17", "-cubin", "-gencode", "arch=compute_90a,code=sm_90a", "-Xptxas=-v",
                                   "-lineinfo", *defines, "-o", os.path.join(folder, cubin),
                                   os.path.join(FOLDER, "matmul_hopper.cu")], capture_output=True, text=True)
            said = made.stdout + made.stderr
            if made.returncode:
                sys.exit(f"{words[0]}: {said}")
            if "serialized" in said or " 0 bytes spill stores" not in said or "warning" in said:
                print(f"{words[0]}: spills, or its products are serialized: {said}")
            built[key] = cubin
        jobs.append(dict(name=words[0], config=config, cubin=built[key], shapes=words[1].split(",")))
    json.dump(jobs, open(os.path.join(folder, "jobs.json"), "w"))
    print(len(jobs), "jobs,", len(built), "built")


def run(folder, seconds, out=None):
    """Runs the jobs in a process that is replaced when one hangs or dies."""
    jobs = json.load(open(os.path.join(folder, "jobs.json")))
    end, at = time.monotonic() + float(seconds), 0
    log = open(os.path.join(out, "sweep.txt"), "w") if out else None
    clocks = None
    if out:
        try:
            clocks = subprocess.Popen(["nvidia-smi", "--query-gpu=timestamp,clocks.sm,power.draw,temperature.gpu",
                                       "--format=csv,noheader", "-lms", "250"],
                                      stdout=open(os.path.join(out, "clocks.csv"), "w"), stderr=subprocess.DEVNULL)
        except OSError:
            pass

    def say(text):
        print(text, flush=True)
        if log:
            log.write(text + "\n")
            log.flush()

    while at < len(jobs) and time.monotonic() < end:
        command = [sys.executable, "-u", __file__, "from", folder, str(at), out or ""]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = queue.Queue()

        def pump(stream=child.stdout, lines=lines):
            for line in stream:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=pump, daemon=True).start()
        patience, reason = STARTS, "dies"
        while True:
            left = end - time.monotonic()
            try:
                line = lines.get(timeout=max(0.1, min(patience, left)))
            except queue.Empty:
                line, reason = None, "hangs" if left > patience else "cut off by the deadline"
                child.kill()
            if line is None:
                break
            patience = HANGS
            if line.startswith("done "):
                at = int(line.split()[1]) + 1
            else:
                say(line.rstrip())
        if child.wait() and at < len(jobs):
            say(f"{reason.upper()}: {jobs[at]['name']}")
            at += 1
    say(f"{at} of {len(jobs)} jobs done")
    if clocks:
        clocks.terminate()


def run_from(folder, start, out, shape=None):
    import torch

    cuda = ctypes.CDLL("libcuda.so.1")
    torch.zeros(1, device="cuda")
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count

    class Attribute(ctypes.Structure):
        _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]

    class Config(ctypes.Structure):
        _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                    ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]

    def sure(code, what):
        if code:
            raise RuntimeError(f"{what}: CUDA error {code}")

    def describe(tensor, rows):
        """A TMA descriptor with boxes of 64 columns. Returns what must live as long as it, and its address."""
        height, width = tensor.shape
        buffer = ctypes.create_string_buffer(128 + 64)
        at = (ctypes.addressof(buffer) + 63) // 64 * 64
        if width % 8 == 0:
            sure(cuda.cuTensorMapEncodeTiled(
                ctypes.c_void_p(at), 9, 2, ctypes.c_void_p(tensor.data_ptr()), (ctypes.c_uint64 * 2)(width, height),
                (ctypes.c_uint64 * 1)(2 * width), (ctypes.c_uint32 * 2)(64, rows), (ctypes.c_uint32 * 2)(1, 1), 0, 3, 0, 0),
                "describing a tensor")
        return buffer, at

    class Kernel:
        def __init__(self, job):
            c = self.config = job["config"]
            self.partial = self.resident = None
            self.rows = 64 * c["TALL"] * (1 if c["PINGPONG"] else c["CONSUMERS"])
            self.cluster = c["CLUSTER_M"] * c["CLUSTER_N"]
            module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
            image = open(os.path.join(folder, job["cubin"]), "rb").read()
            sure(cuda.cuModuleLoadData(ctypes.byref(module), image), "loading")
            sure(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"matmul_hopper"), "finding")
            self.shared = (c["STAGES"] * (self.rows + c["BLOCK_N"]) * c["BLOCK_K"] * 2
                           + 4 * c["CONSUMERS"] * c["STORE_BUFFERS"] * 2048 + 256)
            self.threads = 128 * c["CONSUMERS"] + (32 if c["CONSUMERS"] == 1 else 128)
            sure(cuda.cuFuncSetAttribute(self.function, 8, self.shared), "asking for shared memory")

        def launcher(self, a, b, to):
            (m, k), n, c = a.shape, b.shape[1], self.config
            maps = [describe(a, self.rows // c["CLUSTER_N"]), describe(b, c["BLOCK_K"]), describe(to, 16)]
            before = [ctypes.c_void_p(t.data_ptr()) for t in (a, b, to)]
            after = [ctypes.c_longlong(x) for x in (m, n, k)]
            slots = multiprocessors * c["MIN_BLOCKS"] * self.rows * c["BLOCK_N"] if c["SPLIT"] else 1
            if self.partial is None:
                self.partial = torch.full((slots,), float("nan"), device="cuda")
            after.insert(0, ctypes.c_void_p(self.partial.data_ptr()))
            places = [ctypes.addressof(x) for x in before] + [x[1] for x in maps] + [ctypes.addressof(x) for x in after]
            pointers = (ctypes.c_void_p * len(places))(*places)
            tiles = -(-m // (self.rows * c["CLUSTER_M"])) * -(-n // (c["BLOCK_N"] * c["CLUSTER_N"]))
            if c["SPLIT"]:  # at least four steps for each
                tiles *= max(1, -(-k // c["BLOCK_K"]) // 4)
            attribute = Attribute(4, 0, (ctypes.c_uint * 16)(self.cluster, 1, 1))
            launch_config = Config((self.cluster, 1, 1), (self.threads, 1, 1), self.shared, None, ctypes.pointer(attribute), 1)
            if not self.resident:  # a cluster's blocks lie in one part of the chip: clusters of four leave some of it idle
                most = ctypes.c_int()
                sure(cuda.cuOccupancyMaxActiveClusters(ctypes.byref(most), self.function, ctypes.byref(launch_config)), "asking")
                self.resident = min(most.value, multiprocessors * c["MIN_BLOCKS"] // self.cluster)
            launch_config.grid[0] = self.cluster * min(tiles, self.resident)

            def launch(keep=(maps, before, after, attribute)):
                launch_config.stream = torch.cuda.current_stream().cuda_stream
                sure(cuda.cuLaunchKernelEx(ctypes.byref(launch_config), self.function, pointers, None), "launching")
            return launch

    known = {}

    def question(i):
        if i not in known:
            m, n, k = CHECKS[i]
            torch.manual_seed(i)
            a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
            b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
            known[i] = (a, b, a.double() @ b.double())
        return known[i]

    def check(kernel):
        """The largest relative error in the L2 norm, and what is wrong."""
        worst, wrong = 0.0, []
        for i, (m, n, k) in enumerate(CHECKS):
            a, b, right = question(i)
            answers = []
            for _ in range(3):
                memory = torch.full((m * n + 8192,), float("nan"), device="cuda", dtype=torch.bfloat16)
                c = memory[:m * n].view(m, n)
                kernel.launcher(a, b, c)()
                torch.cuda.synchronize()
                answers.append(c)
                if not bool(memory[m * n:].isnan().all()):
                    wrong.append(f"{CHECKS[i]}: writes behind c")
            if not all(torch.equal(x, answers[0]) for x in answers):
                wrong.append(f"{CHECKS[i]}: its bits move, or are NaN")
            off = answers[0].double() - right
            error = (off.norm() / right.norm()).item()
            # Rounding to bf16 once, and sums of k products in f32.
            worst_one = (off.abs() / (right.abs() * 2**-8 + 1e-5 * k**0.5 + 1e-6)).max().item()
            if not (error < 3.2e-3 and worst_one <= 1.0):
                wrong.append(f"{CHECKS[i]}: off by {error:.1e}, an element by {worst_one:.1f} of what is allowed")
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

    def rival(name):
        """Inputs of a shape, how many calls a graph has, PyTorch's graph, and operations of one call."""
        if name not in rivals:
            m, n, k = SHAPES[name]
            sets = []
            for _ in range(max(2, min(24, int(200e6 // (2 * (m * k + k * n + m * n)))))):
                a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
                b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
                sets.append((a, b, torch.empty(m, n, device="cuda", dtype=torch.bfloat16)))
            flops = 2 * m * n * k
            calls = max(len(sets), min(60, int(5e-3 / (flops / 7e14 + 3e-6))))
            theirs = [lambda t=sets[i % len(sets)]: torch.matmul(t[0], t[1], out=t[2]) for i in range(calls)]
            rivals[name] = (sets, calls, record(theirs), flops)
        return rivals[name]

    jobs = json.load(open(os.path.join(folder, "jobs.json")))
    if shape:
        kernel, (m, n, k) = Kernel(jobs[start]), SHAPES[shape]
        a, b = (torch.randn(s, device="cuda", dtype=torch.bfloat16) for s in ((m, k), (k, n)))
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        for _ in range(3):
            kernel.launcher(a, b, c)()
            torch.matmul(a, b, out=c)
        torch.cuda.synchronize()
        return
    for number in range(start, len(jobs)):
        job = jobs[number]
        kernel = Kernel(job)
        worst, wrong = check(kernel)
        print(f"{job['name']} ({kernel.resident} clusters): " + (f"correct, {worst:.1e}" if not wrong else "WRONG " + "; ".join(wrong[:4])), flush=True)
        for name in job["shapes"] if not wrong else []:
            sets, calls, other, flops = rival(name)
            mine = record([kernel.launcher(*sets[i % len(sets)]) for i in range(calls)])
            times = [(time_of(mine, calls), time_of(other, calls)) for _ in range(ROUNDS + 1)][1:]
            ours, theirs = (sorted(t[i] for t in times)[ROUNDS // 2] for i in (0, 1))
            print(f"    {name:9s} {ours:9.2f} us {flops / ours / 1e6:4.0f} TFLOP/s, PyTorch {theirs:9.2f} us: "
                  f"{theirs / ours:.3f}x", flush=True)
            if out:
                with open(os.path.join(out, "sweep.jsonl"), "a") as file:
                    file.write(json.dumps(dict(config=job["config"], shape=name, us=ours, torch_us=theirs,
                                               rounds=times)) + "\n")
        print(f"done {number}", flush=True)


if __name__ == "__main__":
    action, arguments = sys.argv[1], sys.argv[2:]
    if action == "build":
        build(*arguments)
    elif action == "run":
        run(*arguments)
    elif action == "once":
        run_from(arguments[0], int(arguments[1]), "", arguments[2])
    else:
        run_from(arguments[0], int(arguments[1]), arguments[2])
