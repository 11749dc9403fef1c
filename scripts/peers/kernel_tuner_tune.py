"""Worker: tune one of Kernel Tuner's CUDA examples with Kernel Tuner, one JSON line for each configuration it tried.

Spaces, launches and answers are those of the examples' scripts, with the changes that NAMES below lists beside each. The
driver is ../bench_kernel_tuner.py, which gives kiln the same spaces and sizes.

usage: kernel_tuner_tune.py NAME --sources FOLDER --out FILE --began EPOCH --seconds S [--strategy NAME] [--dims JSON]
       kernel_tuner_tune.py NAME --size      (the number of valid configurations; needs no GPU)
"""

import argparse
import json
import pathlib
import random
import sys
import time
import warnings

# python-constraint2 compiles each condition in several guises; CPython warns about some of them.
warnings.filterwarnings("ignore")
# Kernel Tuner imports torch where it is installed and uses nothing of it here: seconds of its time limit.
sys.modules["torch"] = None

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
F32, I32 = numpy.float32, numpy.int32


def normal(generator, *shape):
    return generator.standard_normal(shape, dtype=F32)


def convolution(dims, generator):
    """The filter's size is not tuned: it changes what is computed. The image is as large as that filter needs."""
    weights = normal(generator, 17 * 17)
    return dict(
        kernel="convolution_kernel",
        size=(4096, 4096),
        arguments=[numpy.zeros(4096 * 4096, F32), normal(generator, 4112 * 4112), weights],
        grid_x=["block_size_x", "tile_size_x"],
        grid_y=["block_size_y", "tile_size_y"],
        constants={"d_filter": weights},
    )


def pnpoly(dims, generator):
    """The kernel alone, on memory of the device: the script tunes a host function that also moves the points. Points and
    corners are kiln's: what is fast depends on them."""
    sys.path.insert(0, str(ROOT / "tests/kernel_tuner/pnpoly"))
    import inputs

    n, seed = dims["N"], int(generator.integers(1 << 30))
    corners, slopes = inputs.vertices((600, 2), dims, seed), inputs.slopes((600,), dims, seed)
    return dict(
        kernel="cn_pnpoly",
        size=(n, 1),
        arguments=[numpy.zeros(n, I32), inputs.points((n, 2), dims, seed).ravel(), I32(n)],
        grid_x=["block_size_x", "tile_size"],
        constants={"d_vertices": corners.ravel(), "d_slopes": slopes},
    )


def reduction(dims, generator):
    """The first of the script's two kernels."""
    n = dims["N"]
    x = generator.random(n, dtype=F32)
    return dict(
        kernel="sum_floats",
        size="num_blocks",
        arguments=[numpy.zeros(max(SPACES["reduction"][0]["num_blocks"]), F32), x, I32(n)],
        grid_x=[],
        answer=[numpy.sum(x), None, None],
        verify=lambda right, found, atol=None: numpy.isclose(right[0], numpy.sum(found[0]), atol=atol),
    )


def spmv(dims, generator):
    rows, columns, nonzero = dims["ROWS"], dims["COLUMNS"], dims["NONZERO"]
    ends = numpy.concatenate(([0], numpy.sort(generator.random(rows - 1) * nonzero), [nonzero])).astype(I32)
    chosen = (generator.random(nonzero) * columns).astype(I32)
    values, x = normal(generator, nonzero), normal(generator, columns)
    sums = numpy.concatenate(([0.0], numpy.cumsum(values * x[chosen], dtype=numpy.float64)))
    right = (sums[ends[1:]] - sums[ends[:-1]]).astype(F32)
    return dict(
        kernel="spmv_kernel",
        size=rows,
        arguments=[numpy.zeros(rows, F32), ends, chosen, values, x, I32(rows)],
        grid_x=["block_size_x/threads_per_row"],
        answer=[right, None, None, None, None, None],
        atol=1e-4,
    )


def stencil(dims, generator):
    old = normal(generator, 4096 * 2048)
    return dict(
        kernel="stencil_kernel",
        size=(4096, 2048),
        arguments=[numpy.copy(old), old],
        grid_x=["block_size_x"],
        grid_y=["block_size_y"],
    )


def zeromean_vertical(dims, generator):
    """The first of the script's two kernels."""
    height, width = I32(4391), I32(3539)
    return dict(
        kernel="computeMeanVertically",
        size=(int(width), 1),
        arguments=[height, width, normal(generator, int(height) * int(width))],
        grid_x=["block_size_x"],
        grid_y=[],
    )


def matmul(dims, generator):
    """With the usual 7 iterations for a configuration; the script has 32."""
    a, b = normal(generator, 4096, 4096), normal(generator, 4096, 4096)
    return dict(
        kernel="matmul_kernel",
        size=(4096, 4096),
        arguments=[numpy.zeros_like(a), a, b],
        grid_x=["block_size_x", "tile_size_x"],
        grid_y=["block_size_y", "tile_size_y"],
    )


BLOCKS = {"block_size_x": [32 * i for i in range(1, 9)], "block_size_y": [2**i for i in range(6)]}
SPACES = {
    "convolution": (
        {
            "filter_height": [17],
            "filter_width": [17],
            "block_size_x": [16 * i for i in range(1, 9)],
            "block_size_y": [2**i for i in range(6)],
            "tile_size_x": list(range(1, 9)),
            "tile_size_y": list(range(1, 9)),
            "use_padding": [0, 1],
            "read_only": [0, 1],
        },
        ["use_padding==0 or (block_size_x % 32 != 0)"],
    ),
    "pnpoly": (
        {
            "block_size_x": [32 * i for i in range(1, 32)],
            "tile_size": [1] + [2 * i for i in range(1, 11)],
            "between_method": [0, 1, 2, 3],
            "use_precomputed_slopes": [0, 1],
            "use_method": [0, 1],
        },
        [],
    ),
    "reduction": (
        {
            "block_size_x": [2**i for i in range(5, 11)],
            "vector": [2**i for i in range(3)],
            "num_blocks": [2**i for i in range(5, 16)],
            "loop_unroll_factor_0": [0, 1, 8, 16, 32, 64],
            "use_shuffle": [0, 1],
        },
        [],
    ),
    "spmv": (
        {"block_size_x": [32 * i for i in range(1, 33)], "threads_per_row": [1, 32], "read_only": [0, 1]},
        [],
    ),
    "stencil": (BLOCKS, []),
    "zeromean_vertical": (BLOCKS, []),
    "matmul": (
        {
            "block_size_x": [16 * 2**i for i in range(3)],
            "block_size_y": [2**i for i in range(6)],
            "tile_size_x": [2**i for i in range(4)],
            "tile_size_y": [2**i for i in range(4)],
        },
        ["block_size_x==block_size_y*tile_size_y"],
    ),
}
SOURCES = {"zeromean_vertical": "zeromeanfilter.cu"}
NAMES = {f.__name__: f for f in (convolution, pnpoly, reduction, spmv, stencil, zeromean_vertical, matmul)}


def tune(args):
    from kernel_tuner import tune_kernel
    from kernel_tuner.backends.cupy import CupyFunctions
    from kernel_tuner.core import DeviceInterface
    from kernel_tuner.runners import sequential
    from kernel_tuner.util import ErrorConfig, RuntimeFailedConfig

    space, rules = SPACES[args.name]
    random.seed(args.seed)
    numpy.random.seed(args.seed)
    problem = NAMES[args.name](json.loads(args.dims), numpy.random.default_rng(args.seed))
    with open(f"{args.sources}/{SOURCES.get(args.name, args.name + '.cu')}", encoding="utf-8") as file:
        source = file.read()

    # Every configuration as it comes: what was tried until an error or the end of the time is kept.
    out = open(args.out, "a", encoding="utf-8", buffering=1)
    store = sequential.store_cache

    def kept(key, params, cachefile, cache):
        error = next((str(v) for v in params.values() if isinstance(v, ErrorConfig)), None)
        row = {"config": {name: params[name] for name in space}, "ended": time.time(), "error": error}
        for name in ("time", "compile_time", "verification_time", "benchmark_time"):
            row[name] = None if error and name == "time" else float(params[name])
        out.write(json.dumps(row) + "\n")
        store(key, params, cachefile, cache)

    sequential.store_cache = kept

    # NVRTC leaves out constants that a configuration does not use; without this its first such one would end the tuning.
    copy = CupyFunctions.copy_constant_memory_args

    def copied(self, constants):
        for name, value in constants.items():
            try:
                copy(self, {name: value})
            except Exception as problem:
                if "NOT_FOUND" not in str(problem):
                    raise

    CupyFunctions.copy_constant_memory_args = copied

    # A launch that the driver refuses costs its configuration. Kernel Tuner knows only some of the words for that, and would
    # end. NVRTC 13.0 compiles kernels with up to 227 KB of static shared memory, so this may happen.
    benchmark = DeviceInterface.compile_and_benchmark

    def survived(self, *args):
        try:
            return benchmark(self, *args)
        except Exception as problem:
            if not any(words in str(problem) for words in ("CUDA_ERROR_INVALID_VALUE", "OUT_OF_RESOURCES", "INVALID_IMAGE")):
                raise
            spent = dict.fromkeys(("compile_time", "verification_time", "benchmark_time"), 0)
            return {"__error__": RuntimeFailedConfig()} | spent

    DeviceInterface.compile_and_benchmark = survived

    count = 1
    for values in space.values():
        count *= len(values)
    options = {"time_limit": args.seconds - (time.time() - args.began), "max_fevals": count}
    out.write(json.dumps({"prepared": time.time()}) + "\n")
    tune_kernel(
        problem["kernel"],
        source,
        problem["size"],
        problem["arguments"],
        space,
        grid_div_x=problem.get("grid_x"),
        grid_div_y=problem.get("grid_y"),
        restrictions=rules,
        answer=problem.get("answer"),
        verify=problem.get("verify"),
        atol=problem.get("atol", 1e-6),
        cmem_args=problem.get("constants"),
        lang="CUPY",
        quiet=True,
        strategy=args.strategy,
        strategy_options=options,
    )
    out.write(json.dumps({"finished": time.time()}) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--size", action="store_true", help="print the number of valid configurations, run nothing")
    parser.add_argument("--sources", help="folder with the examples' sources")
    parser.add_argument("--out", help="file for the configurations tried")
    parser.add_argument("--began", type=float, help="when this process was started, seconds since 1970")
    parser.add_argument("--seconds", type=float, help="time limit from then on")
    parser.add_argument("--strategy", default="random_sample")
    parser.add_argument("--dims", default="{}", help="sizes, as in the kernel file's workload")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.size:
        from kernel_tuner.searchspace import Searchspace

        # 1024: threads in a block, a rule that Kernel Tuner adds by itself.
        print(Searchspace(*SPACES[args.name], 1024).size)
    else:
        tune(args)


if __name__ == "__main__":
    main()
