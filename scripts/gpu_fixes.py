#!/usr/bin/env python3
"""Fixes applied to our own kernels: what a profile promises, and what the fix gives.

    gpu_fixes.py KILN ROOT OUT [SECONDS]     on a GPU: profiles each kernel before and after, then `kiln diagnose --calibration`
    gpu_fixes.py KILN ROOT --build           anywhere with nvcc: builds both sides of every fix

Each fix is a kernel of this repository with one thing as a first version would have it, and the kernel as it is; or two configurations
of it, where the fix is another value of a tunable. OUT gets fixes.jsonl (each profile as it ends), calibration.json and calibration.txt.
What would begin after SECONDS is left out, and said so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

KILN, ROOT, OUT = os.path.realpath(sys.argv[1]), *sys.argv[2:4]
DEADLINE = time.monotonic() + float(sys.argv[4] if len(sys.argv) > 4 else 300)
WORK = tempfile.mkdtemp(prefix="kiln-fixes-")

FLOAT = "matmul_float.cu"
SQUARE = ["--workload", "square2048"]
SCALED = ("            for (int i = 0; i < TILE_Y; i++) {\n                const float down", "            for (int i = 0; i < TILE_Y; i++) {\n                if (i % 2) __syncthreads();\n                const float down")
TALL = ("kernel.toml", "[[workloads]]\nname = \"square1024\"\n", "[[workloads]]\nname = \"wave_and_more\"\ndims = { M = 2176, N = 2048, K = 4096 }\n[[workloads]]\nname = \"square1024\"\n")

PROMPT = ("kernel.toml", "[[workloads]]\nname = \"s512_d64\"\n", "[[workloads]]\nname = \"one_prompt\"\ndims = { B = 1, H = 8, HK = 8, SQ = 1024, SK = 1024, D = 64, CAUSAL = 0, LAYOUT = \"bhsd\" }\ntargets = [\"cuda\"]\n[[workloads]]\nname = \"s512_d64\"\n")
MAY_SPILL = ("kernel.toml", 'spills = "refuse"', 'spills = "warn"')
LONG = ["--variant", "T=bf16", "--workload", "s2048_d64"]
HALF = "power(__fmaf_rn(s[i][j][2 * h%s], scale, -most[r]))"
DOUBLE = "power(float(s[i][j][2 * h%s] * 1.0 * scale - most[r]))"

# Name, kernel, changes of files that stay, changes that the fix takes back, flags before, flags after.
FIXES = [
    ("rows of the tile padded", "matmul", [], [("matmul.cu", "constexpr int PAD = 16;", "constexpr int PAD = 0;"), ("matmul.cu", "return PAD ? 0 :", "return 1 ? 0 :")], ["--config", "SWIZZLE=pad"], None),
    ("rows of a padded", "matmul_float", [], [(FLOAT, "left[HEIGHT][TILE_K + 1]", "left[HEIGHT][TILE_K]")], ["--config", "BLOCK_X=8,BLOCK_Y=16,TILE_X=8,TILE_K=32", *SQUARE], None),
    ("keys and values padded", "attention", [], [("attention.cu", "constexpr int PAD = 16;", "constexpr int PAD = 0;"), ("attention.cu", "PAD ? 0 :", "1 ? 0 :")], ["--config", "WARPS=8,SWIZZLE=pad", *LONG], None),
    ("registers that suffice for products", "matmul", [], [("matmul.cu", "__launch_bounds__(THREADS, MIN_BLOCKS)", "__launch_bounds__(THREADS, 3)")], [], None),
    ("registers that suffice for sums", "attention", [MAY_SPILL], [("attention.cu", "__launch_bounds__(THREADS, MIN_BLOCKS)", "__launch_bounds__(THREADS, 5)")], ["--config", "WARPS=4", *LONG], None),
    ("a product in float", "attention", [MAY_SPILL], [("attention.cu", HALF % side, DOUBLE % side) for side in ("", " + 1")], ["--config", "WARPS=4", *LONG], None),
    ("shorter tiles for one prompt", "attention", [PROMPT], [], ["--config", "BLOCK_M=128,WARPS=4", "--variant", "T=bf16", "--workload", "one_prompt"], ["--config", "BLOCK_M=32,WARPS=2", "--variant", "T=bf16", "--workload", "one_prompt"]),
    ("tiles that come ahead", "attention", [MAY_SPILL], [], ["--config", "WARPS=4,STAGES=1", *LONG], ["--config", "WARPS=4,STAGES=2", *LONG]),
    ("registers that suffice", "matmul_float", [], [(FLOAT, "__launch_bounds__(THREADS, 1)", "__launch_bounds__(THREADS, 8)")], ["--config", "TILE_X=8,TILE_Y=8,UNROLL=8", *SQUARE], None),
    ("a float literal", "matmul_float", [], [(FLOAT, "sum[i][j] += down * across[j];", "sum[i][j] += down * across[j] * 1.0000001;")], SQUARE, None),
    ("neighbours load neighbours", "matmul_float", [], [(FLOAT, "const int r = row + i / TILE_K, s = done + i % TILE_K;", "const int r = row + i % HEIGHT, s = done + i / HEIGHT;"), (FLOAT, "left[i / TILE_K][i % TILE_K] =", "left[i % HEIGHT][i / HEIGHT] =")], SQUARE, None),
    ("neighbours store neighbours", "matmul_float", [], [(FLOAT, "left[y + i * BLOCK_Y][s]", "left[x + i * BLOCK_Y][s]"), (FLOAT, "right[s][x + j * BLOCK_X]", "right[s][y + j * BLOCK_X]"), (FLOAT, "const int r = row + y + i * BLOCK_Y;", "const int r = row + x + i * BLOCK_Y;"), (FLOAT, "const int l = col + x + j * BLOCK_X;", "const int l = col + y + j * BLOCK_X;")], ["--workload", "square1024"], None),
    ("fewer barriers", "matmul_float", [], [(FLOAT, *SCALED)], SQUARE, None),
    ("smaller tiles for a small product", "matmul", [], [], ["--workload", "square1024"], ["--config", "BLOCK_M=64,BLOCK_N=64,WARPS_M=2,WARPS_N=2", "--workload", "square1024"]),
    ("smaller tiles for a small product in f32", "matmul_float", [], [], ["--config", "BLOCK_X=32,TILE_X=8,TILE_Y=8", "--workload", "square1024"], ["--config", "TILE_X=4,TILE_Y=4", "--workload", "square1024"]),
    ("tiles that fill the last wave", "matmul", [TALL], [], ["--workload", "wave_and_more"], ["--config", "BLOCK_N=128,WARPS_N=2,MIN_BLOCKS=2", "--workload", "wave_and_more"]),
    ("fewer sums for each thread", "matmul_float", [], [], ["--config", "TILE_X=8,TILE_Y=8,UNROLL=8", *SQUARE], ["--config", "TILE_X=4,TILE_Y=8", *SQUARE]),
    ("shorter tiles in shared memory", "attention", [], [], ["--config", "WARPS=8,BLOCK_N=128,STAGES=3,KV_BUFFER=split", *LONG], ["--config", "WARPS=8,BLOCK_N=64,STAGES=2", *LONG]),
]


def changed(folder, changes):
    for file, old, new in changes:
        path = os.path.join(folder, file)
        text = open(path).read()
        if old not in text:
            raise SystemExit("%s is not in %s of %s" % (old, file, folder))
        open(path, "w").write(text.replace(old, new))


def sides():
    """Every fix: its name, and what is run before and after. The file changes in between."""
    for number, (name, kernel, stays, worse, before, after) in enumerate(FIXES):
        folder = os.path.join(WORK, str(number), kernel)
        shutil.copytree(os.path.join(ROOT, "kernels", kernel), folder)
        changed(folder, stays + worse)
        yield name, folder, "before", before
        changed(folder, [(file, new, old) for file, old, new in worse])
        yield name, folder, "after", after or before


def build():
    failed = 0
    for name, folder, side, flags in sides():
        if "--workload" in flags:
            at = flags.index("--workload")
            flags = flags[:at] + flags[at + 2 :]
        ran = subprocess.run([KILN, "gate", folder, "--target", "cuda", "--arch", "sm_90a", "--until", "build", *flags], cwd=WORK, capture_output=True, text=True)
        failed += ran.returncode != 0
        print("%-45s %-6s exit %d%s" % (name, side, ran.returncode, "\n" + ran.stdout[-1500:] + ran.stderr[-800:] if ran.returncode else ""))
    return 1 if failed else 0


def measure():
    project = os.path.join(WORK, "run")
    os.makedirs(project)
    for name, folder, side, flags in sides():
        line = [KILN, "profile", folder, "--target", "cuda", "--seed", "1", "--json", *flags]
        row = {"name": name, "side": side, "flags": flags}
        if time.monotonic() > DEADLINE:
            row["left_out"] = True
        else:
            begun = time.monotonic()
            ran = subprocess.run(line, cwd=project, capture_output=True, text=True)
            row["code"], row["seconds"] = ran.returncode, round(time.monotonic() - begun, 2)
            try:
                found = json.loads(ran.stdout)
                keys = ("cause", "confidence", "expected_speedup", "ranked", "roofline", "time_us", "coarse", "fix", "promoted", "notes")
                row["found"] = {key: found[key] for key in keys if key in found}
            except ValueError:
                row["err"] = (ran.stdout + ran.stderr)[-1500:]
        with open(os.path.join(OUT, "fixes.jsonl"), "a") as file:
            file.write(json.dumps(row) + "\n")
    for flags, file in [(["--json"], "calibration.json"), ([], "calibration.txt")]:
        ran = subprocess.run([KILN, "diagnose", "--calibration", *flags], cwd=project, capture_output=True, text=True)
        open(os.path.join(OUT, file), "w").write(ran.stdout + ran.stderr)
    print(ran.stdout)
    return ran.returncode


code = build() if OUT == "--build" else measure()
shutil.rmtree(WORK, ignore_errors=True)
sys.exit(code)
