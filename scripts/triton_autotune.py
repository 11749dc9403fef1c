#!/usr/bin/env python3
"""triton.autotune on the configurations that a study of kiln's tried, beside that study: scripts/gpu.sh triton calls it.

    triton_autotune.py KERNEL STUDY.json    (KERNEL is softmax, layernorm or matmul; STUDY.json is `kiln show last --json`)

Prints one JSON line a figure: seconds from an empty cache for all shapes, and for each shape the times of both winners, taken by the
same triton.testing.do_bench in this process. Needs a GPU.
"""

import json
import os
import sys
import tempfile
import time

# Nothing compiled before may help.
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels")

import torch  # noqa: E402
import triton  # noqa: E402


def softmax(shape):
    import softmax as module

    rows, cols = shape
    x, y = torch.randn(rows, cols, device="cuda"), torch.empty(rows, cols, device="cuda")

    def config(c):
        return {"BLOCK": c["BLOCK"], "STAGES": c["num_stages"], "WHOLE": cols <= c["BLOCK"]}

    return module.softmax_rows, (x, y, cols), config, lambda meta: (rows,)


def layernorm(shape):
    import layernorm as module

    rows, cols = shape
    x, y = torch.randn(rows, cols, device="cuda"), torch.empty(rows, cols, device="cuda")
    weight, bias = torch.randn(cols, device="cuda"), torch.randn(cols, device="cuda")

    def config(c):
        return {"ROWS": c["ROWS"], "BLOCK": c["BLOCK"], "WHOLE": cols <= c["BLOCK"], "STAGES": c["num_stages"]}

    return module.layernorm_rows, (x, weight, bias, y, rows, cols, 1e-5), config, lambda meta: (triton.cdiv(rows, meta["ROWS"]),)


def matmul(shape):
    import matmul as module

    m, n, k = shape
    a, b = (torch.randn(*size, device="cuda").bfloat16() for size in ((m, k), (k, n)))
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)

    def config(values):
        own = {name: values[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")}
        return dict(own, EVEN_K=k % values["BLOCK_K"] == 0)

    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)  # noqa: E731
    return module.matmul_tiles, (a, b, c, m, n, k), config, grid


KERNELS = {
    "softmax": (softmax, [(4096, 1024), (8192, 4096)]),
    "layernorm": (layernorm, [(8192, 1024), (4096, 4096)]),
    "matmul": (matmul, [(2048, 2048, 2048), (512, 4096, 2048)]),
}


def parsed(text):
    return {name: int(value) for name, value in (part.split("=") for part in text.split(","))}


def figure(name, value):
    print(json.dumps({"name": name, "value": value, "bound": "reported", "pass": True}), flush=True)


def main():
    kernel, study = sys.argv[1], json.load(open(sys.argv[2]))
    sys.path.insert(0, os.path.join(root, kernel + "_triton"))
    setup, shapes = KERNELS[kernel]
    workloads = [workload for workload in study["study"]["summary"]["workloads"] if not workload["holdout"]]
    trials = [trial for trial in study["trials"] if trial["phase"].split("/")[-1] in ("seed", "search")]
    torch.zeros(1, device="cuda")
    spent, count, found = 0.0, 0, []
    for shape, workload in zip(shapes, workloads):
        tried = [trial["config"] for trial in trials if trial["phase"].split("/")[0] == workload["name"]]
        tried = [parsed(config) if isinstance(config, str) else config for config in tried]
        if not tried:
            sys.exit("the study tried nothing on %s: give it more --minutes" % workload["name"])
        jit, args, config, grid = setup(shape)
        listed = [triton.Config(config(c), num_warps=c["num_warps"], num_stages=c["num_stages"]) for c in tried]
        tuner = triton.autotune(configs=listed, key=[])(jit)
        start = time.perf_counter()
        tuner[grid](*args)
        torch.cuda.synchronize()
        spent, count = spent + time.perf_counter() - start, count + len(tried)
        found.append((shape, tuner.best_config, workload["config"]))
    figure("triton.autotune %s, %d configurations on %d shapes from an empty cache, s" % (kernel, count, len(shapes)), spent)
    figure("triton.autotune %s, configurations a second" % kernel, count / spent)
    for shape, theirs, ours in found:
        jit, args, config, grid = setup(shape)
        ours = parsed(ours) if isinstance(ours, str) else ours
        own = {"num_warps": ours["num_warps"], "num_stages": ours["num_stages"]}
        name = "%s %s" % (kernel, "x".join(map(str, shape)))
        # In turns: whoever is measured first finds the GPU cooler.
        times = [[], []]
        for _ in range(3):
            times[0].append(triton.testing.do_bench(lambda: jit[grid](*args, **theirs.all_kwargs()), rep=100))
            times[1].append(triton.testing.do_bench(lambda: jit[grid](*args, **config(ours), **own), rep=100))
        figure("triton.autotune's winner of %s, us" % name, 1000 * sorted(times[0])[1])
        figure("kiln's winner of %s, us" % name, 1000 * sorted(times[1])[1])


main()
