#!/usr/bin/env python3
"""Profiles our own kernels on a GPU, and copies of them with one planted bottleneck each.

    gpu_profile.py KILN ROOT OUT [SECONDS]

OUT gets profile.jsonl (a line for each run, as it ends), figures.jsonl, and the reports' raw pages in pages.txt. What would begin after
SECONDS is left out, and said so. Figures: the quick level under 10 s, the full one under 30 s, the planted cause first, and every
figure of a diagnosis as it is on ncu's own page.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

KILN, ROOT, OUT = sys.argv[1:4]
DEADLINE = time.monotonic() + float(sys.argv[4] if len(sys.argv) > 4 else 400)
WORK = tempfile.mkdtemp(prefix="kiln-profile-")
failed = 0
# Stands for an ncu whose user may not read counters: it says so, and runs the program.
FORBIDDEN = """#!/bin/sh
[ "$1" = --version ] && echo "NVIDIA (R) Nsight Compute Command Line Profiler
Version 2025.3.1.0 (build 1)" && exit 0
while [ "$1" != "%s" ]; do [ "$1" = --log-file ] && log="$2"; shift; done
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0." > "$log"
exec "$@"
""" % os.path.realpath(KILN)


def write(name, text):
    with open(os.path.join(OUT, name), "a") as file:
        file.write(text + "\n")


def figure(name, value, bound, passed):
    global failed
    failed += not passed
    write("figures.jsonl", json.dumps({"name": name, "value": value, "bound": bound, "pass": bool(passed)}))


def planted(kernel, name, *changes):
    """A copy of a kernel with some text of its files changed."""
    copy = os.path.join(WORK, name)
    shutil.copytree(os.path.join(ROOT, "kernels", kernel), copy)
    for file, old, new in changes:
        path = os.path.join(copy, file)
        text = open(path).read()
        if old not in text:
            raise SystemExit("%s is not in %s of %s" % (old, file, kernel))
        open(path, "w").write(text.replace(old, new))
    return copy


def profile(name, path, *more, limit=60):
    """One run: the printed object, or None; and its seconds."""
    if time.monotonic() > DEADLINE:
        write("profile.jsonl", json.dumps({"name": name, "left_out": True}))
        return None, 0.0
    begun = time.monotonic()
    folder = os.path.join(WORK, "run")
    os.makedirs(folder, exist_ok=True)
    line = [KILN, "profile", path, "--target", "cuda", "--seed", "1", "--json", *more]
    try:
        ran = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=limit + 60)
        code, out, err = ran.returncode, ran.stdout, ran.stderr
    except subprocess.TimeoutExpired as error:
        code, out, err = -1, "", "timed out: %s" % error
    seconds = time.monotonic() - begun
    try:
        found = json.loads(out)
    except ValueError:
        found = None
    write("profile.jsonl", json.dumps({"name": name, "code": code, "seconds": round(seconds, 2), "found": found, "err": err[-1500:] if code else ""}))
    if found is None or code:
        return None, seconds
    page = found["profiled"].get("page")
    if page:
        try:
            agrees(name, found, os.path.join(folder, page))
        except (KeyError, ValueError, StopIteration, OSError) as error:
            figure("%s: ncu's page could not be read: %s" % (name, error), 1, "0", False)
    return found, seconds


def agrees(name, found, page):
    """The figures of a diagnosis against ncu's page."""
    rows = list(csv.reader(open(page, errors="replace")))
    start = next(n for n, row in enumerate(rows) if row and row[0] == "ID")
    header, units = rows[start], rows[start + 1]
    launches = [row for row in rows[start + 2 :] if len(row) == len(header)]
    own = [row for row in launches if row[header.index("Kernel Name")] == found["kernel"]]
    number = lambda text: float(text.replace(",", ""))
    wrong = []
    duration = header.index("gpu__time_duration.sum")
    longest = max(own, key=lambda row: number(row[duration]))
    for one in found["evidence"]:
        theirs = number(longest[header.index(one["metric"])])
        if abs(theirs - one["value"]) > 1e-6 * max(abs(theirs), 1):
            wrong.append("%s: %s, on the page %s" % (one["metric"], one["value"], theirs))
    micros = number(longest[duration]) / 1e3
    if abs(micros - found["time_us"]) > 0.006 * micros:
        wrong.append("time: %s, on the page %s" % (found["time_us"], micros))
    write("pages.txt", "%s: %d launches of %d, %d metrics, units %s; %s" % (name, len(own), len(launches), len(header) - 11, units[duration], wrong or "agrees"))
    figure("%s: figures that are not on ncu's page" % name, len(wrong), "0", not wrong)


def main():
    matmul, attention = (os.path.join(ROOT, "kernels", name) for name in ("matmul", "attention"))
    bf16 = ["--variant", "T=bf16", "--workload", "s2048_d64"]
    # The first run of all writes what the profiler keeps in the home folder, and is not timed.
    profile("first", matmul)
    for name, path, more in [("matmul", matmul, []), ("attention", attention, bf16)]:
        found, seconds = profile(name + " quick", path, *more)
        figure(name + ", quick profile, s", round(seconds, 2), "at most 10", found is not None and seconds <= 10)
    # What each must be called; the repair is the kernel as it is.
    one_block = ("kernel.toml", "[[workloads]]\nname = \"square1024\"\n", "[[workloads]]\nname = \"one_block\"\ndims = { M = 128, N = 64, K = 65536 }\n[[workloads]]\nname = \"square1024\"\n")
    cases = [
        ("padding removed", "shared_bank_conflict", "matmul", [("matmul.cu", "constexpr int PAD = 16;", "constexpr int PAD = 0;"), ("matmul.cu", "return PAD ? 0 :", "return 1 ? 0 :")], ["--config", "SWIZZLE=pad"]),
        ("unroll that spills", "register_spill_local", "matmul_float", [("matmul_float.cu", "__launch_bounds__(THREADS, 1)", "__launch_bounds__(THREADS, 8)")], ["--config", "TILE_X=8,TILE_Y=8,UNROLL=8", "--workload", "square2048"]),
        ("one-block grid", "small_grid", "matmul_float", [one_block], ["--workload", "one_block"]),
        ("fp64 literal", "fp64_unintended", "matmul_float", [("matmul_float.cu", "sum[i][j] += down * across[j];", "sum[i][j] += down * across[j] * 1.0000001;")], ["--workload", "square2048"]),
    ]
    for name, cause, kernel, changes, more in cases:
        found, _ = profile(name, planted(kernel, name.replace(" ", "_"), *changes), *more)
        first = found and found.get("cause")
        write("pages.txt", "%s: first %s, planted %s" % (name, first, cause))
        figure("%s: %s comes first" % (name, cause), int(first == cause), "1", first == cause)
    found, _ = profile("baseline torch", matmul, "--baseline", "torch")
    figure("a baseline of PyTorch is profiled", int(found is not None), "1", found is not None)
    for name, path, more in [("matmul", matmul, []), ("attention", attention, bf16)]:
        found, seconds = profile(name + " full", path, "--level", "full", *more, limit=180)
        figure(name + ", full profile, s", round(seconds, 2), "at most 30", found is not None and seconds <= 30)
    # A user who may not read counters: a coarse diagnosis that says so.
    tools = os.path.join(WORK, "tools")
    os.makedirs(tools)
    open(os.path.join(tools, "ncu"), "w").write(FORBIDDEN)
    os.chmod(os.path.join(tools, "ncu"), 0o755)
    os.environ["PATH"] = tools + ":" + os.environ["PATH"]
    found, _ = profile("counters forbidden", matmul)
    told = bool(found) and found["coarse"] and any("ERR_NVGPUCTRPERM" in note for note in found.get("notes", []))
    figure("without permission the diagnosis is coarse and says so", int(told), "1", told)
    shutil.rmtree(WORK, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
