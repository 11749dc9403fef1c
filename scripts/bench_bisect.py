#!/usr/bin/env python3
"""How surely `kiln bisect --until fast:3%` finds a slowdown of a few per cent among 64 commits.

    scripts/bench_bisect.py [--kiln target/release/kiln] [--runs 5] [--percent 5] [--busy N]

Each run makes a scratch repository of 64 commits, whose kernel does exactly PERCENT more work from a commit drawn by a seed
on, and asks `kiln bisect` for it. `--busy N` keeps N processes computing beside it. Prints one row for each run and a
summary; docs/bisect.md has the figures of the last.
"""

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time

KERNEL = """[kernel]
name = "chain"
entry = "chain"
[tunables]
ONLY = [1]
[target.cpu]
source = "chain.c"
[[arguments]]
name = "x"
type = "f32[N]"
role = "in"
[[arguments]]
name = "y"
type = "f32[N]"
role = "out"
[[arguments]]
name = "n"
type = "i64"
role = "scalar"
value = "N"
[[workloads]]
name = "only"
dims = { N = 256 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
"""

# A chain of dependent operations that the compiler can neither shorten nor vectorise: time is proportional to STEPS.
SOURCE = """#include <stdint.h>
__attribute__((used)) static int unused(int a) {{ return {number} * a; }}
void chain(const float *x, float *y, int64_t n) {{
    for (int64_t i = 0; i < n; ++i) {{
        float v = x[i];
        for (int step = 0; step < {steps}; ++step) {{
            v = v * 1.0f;
            __asm__ volatile("" : "+x"(v));
        }}
        y[i] = 2 * v;
    }}
}}
"""
STEPS = 400
COMMITS = 64


def repository(folder, culprit, percent):
    """A repository of 64 commits."""
    stream = []
    for number in range(COMMITS):
        steps = round(STEPS * (1 + percent / 100)) if number >= culprit else STEPS
        files = {"chain/chain.c": SOURCE.format(number=number + 3, steps=steps)}
        if number == 0:
            files["chain/kernel.toml"] = KERNEL
            files[".gitignore"] = ".kiln\n"
        message = f"commit {number}"
        stream.append(f"commit refs/heads/main\ncommitter A <a@example.com> {1700000000 + number} +0000\n")
        stream.append(f"data {len(message)}\n{message}\n")
        stream += [f"M 644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items()]
    git = ["git", "-C", folder]
    subprocess.run(git + ["init", "-q", "-b", "main"], check=True)
    subprocess.run(git + ["fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    subprocess.run(git + ["reset", "-q", "--hard"], check=True)


def compute():
    """Keeps a processor busy."""
    value = 0
    while True:
        value = (value * 31 + 7) % 1000003


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", default="target/release/kiln")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--percent", type=float, default=5)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    kiln = os.path.abspath(args.kiln)
    rng = random.Random(args.seed)
    busy = [multiprocessing.Process(target=compute, daemon=True) for _ in range(args.busy)]
    for process in busy:
        process.start()
    found, most = 0, 0
    print("| run | culprit | named | change | commits evaluated | seconds |")
    print("|---|---|---|---|---|---|")
    for run in range(args.runs):
        culprit = rng.randrange(1, COMMITS)
        with tempfile.TemporaryDirectory() as folder:
            repository(folder, culprit, args.percent)
            began = time.time()
            command = [kiln, "bisect", "chain", "--good", f"HEAD~{COMMITS - 1}", "--until", "fast:3%", "--json"]
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            seconds = time.time() - began
        if ran.returncode != 0:
            print(f"| {run} | {culprit} | exit {ran.returncode} | - | - | {seconds:.0f} |", flush=True)
            print(ran.stderr, file=sys.stderr)
            continue
        result = json.loads(ran.stdout)
        named = (result["culprit"] or {}).get("subject", result["outcome"]).removeprefix("commit ")
        change = result["change"][0] if result["change"] else None
        words = "-"
        if change:
            low, high = change["ratio_ci95"]
            words = f"{100 * (change['ratio'] - 1):+.1f} % [{100 * (low - 1):+.1f}, {100 * (high - 1):+.1f}]"
        found += named == str(culprit)
        most = max(most, result["evaluated"])
        print(f"| {run} | {culprit} | {named} | {words} | {result['evaluated']} | {seconds:.0f} |", flush=True)
    print(f"\n{found} of {args.runs} named; at most {most} commits evaluated")
    for process in busy:
        process.terminate()
    return 0 if found == args.runs else 1


if __name__ == "__main__":
    sys.exit(main())
