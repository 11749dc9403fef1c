"""The Hopper attention kernel on a GPU: small problems, a hundred reruns, shapes that nobody tuned for. In: a folder of cubins
(where it does not exist, they are compiled there), one for results, seconds. Out: found.jsonl, sweep.txt, bench.jsonl, and a
table as the last lines.

    kernels/attention/sweep.py build target/attention kernels/attention/small.txt     anywhere with nvcc
    python3 scripts/gpu_attention.py target/attention $OUT 280                                      on the GPU

sweep.py checks every configuration before it is timed. Then kiln measures the best of each small shape, and each further shape
with what its table of tuned configurations chooses."""

import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KERNEL = os.path.join(ROOT, "kernels/attention")
KILN = os.environ.get("KILN", os.path.join(ROOT, "target/gpu/kiln"))
sys.path.insert(0, KERNEL)
import sweep  # noqa: E402

# Shapes of the sweep, and the workloads that are the same.
WORKLOADS = dict(tiny32="tiny32_d64", tiny128="tiny128_d64", s512="s512_d64", s512c="s512_d64_causal", s1024="s1024_d64",
                 s1024c="s1024_d64_causal", s2048="s2048_d64", s2048c="s2048_d64_causal")
begun = time.time()


def said(words, path, limit):
    """Runs a program for so many seconds at most; what it printed, also in a file."""
    with open(path, "a") as file:
        try:
            ran = subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, timeout=limit)
            return ran.returncode
        except subprocess.TimeoutExpired:
            file.write(f"stopped after {limit:.0f} s\n")
            return 124


def kiln(words, name, out, left):
    """A command's JSON, or nothing; one line in bench.jsonl."""
    if left() < 15:
        return None
    try:
        ran = subprocess.run([KILN, *words, "--json", "--seed", "1"], capture_output=True, text=True, timeout=min(60, left()), cwd=out + "/work")
        found = json.loads(ran.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as fault:
        with open(f"{out}/kiln.txt", "a") as file:
            file.write(f"{name}: {fault!r}\n")
        return None
    with open(f"{out}/bench.jsonl", "a") as file:
        file.write(json.dumps({"name": name, "command": words, "found": found}) + "\n")
    return found



def main(folder, out, seconds):
    os.makedirs(f"{out}/work", exist_ok=True)
    left = lambda: float(seconds) - (time.time() - begun)
    if not os.path.exists(f"{folder}/jobs.json"):
        said([sys.executable, f"{KERNEL}/sweep.py", "build", folder, f"{KERNEL}/small.txt"], f"{out}/sweep.txt", left() - 60)
    if os.path.exists(f"{folder}/found.jsonl"):
        os.remove(f"{folder}/found.jsonl")
    share = 0.62 if os.path.exists(KILN) else 0.95
    said([sys.executable, f"{KERNEL}/sweep.py", "run", folder, str(share * left())], f"{out}/sweep.txt", left() - 8)
    if os.path.exists(f"{folder}/found.jsonl"):
        shutil.copy(f"{folder}/found.jsonl", out)
    found = [json.loads(line) for line in open(f"{folder}/found.jsonl")] if os.path.exists(f"{folder}/found.jsonl") else []
    best = {}
    for row in found:
        if row.get("dtype") == "bf16" and row["us"] < best.get(row["shape"], row)["us"] + 1e-9:
            best[row["shape"]] = row
    rows = []
    for shape, workload in WORKLOADS.items():
        if shape in best:
            config = ",".join(f"{n}={bool(v) if n in ('OVERLAP', 'PINGPONG', 'Q_IN_REGS', 'FOLD') else v}".replace("True", "true").replace("False", "false")
                              for n, v in best[shape]["config"].items())
            rows.append((shape, kiln(["bench", KERNEL, "--variant", "T=bf16", "--workload", workload, "--baseline", "torch", "--config", config,
                                      "--samples", "25", "--max-samples", "25"], shape, out, left)))
    for shape, dims in sweep.FURTHER.items():
        words = ["sweep", KERNEL, "--variant", "T=bf16", "--baseline", "torch", "--samples", "25", "--max-samples", "25"]
        for name, value in zip(("B", "H", "HK", "SQ", "SK", "D", "CAUSAL"), dims):
            words += ["--dim", f"{name}={value}"]
        rows.append((shape, kiln(words, shape, out, left)))
    shutil.rmtree(f"{out}/work")
    print(f"\nconfigurations: {sum('correct' in r for r in found)} tried, wrong: {[r['job'] for r in found if r.get('correct') is False]}")
    print(f"reruns: {sum('moved' in r for r in found)} of {sweep.RERUNS} runs each, with other bits: {[r for r in found if r.get('moved')]}")
    for line in open(f"{out}/sweep.txt"):
        if line.startswith(("HANGS", "LEFT", "no time")):
            print(line, end="")
    for shape, row in best.items():
        print(f"{shape:13s} {row['us']:9.2f} us, PyTorch {row['torch_us']:9.2f} us: {row['speedup']:.3f}x  {row['job']}")
    for shape, report in rows:
        print(f"kiln {shape:13s} {verdict(report)}")
    print(f"{time.time() - begun:.0f} s")


def verdict(report):
    """The speedup in a report of `kiln bench` or of a sweep over one shape."""
    if report is None:
        return "not measured"
    try:
        measured = report["workloads"][0] if "workloads" in report else report["cells"][0]
        against = measured["baselines"][0]
        low, high = against["speedup_ci95"]
        median = measured.get("median") or against["candidate"]["median"]
        return f"{1e6 * median:9.2f} us: {against['speedup']:.3f}x [{low:.3f}, {high:.3f}] of {against['name']}, {against['verdict']}; {measured.get('tuned', '')}"
    except (KeyError, IndexError, TypeError):
        return json.dumps(report)[:300]


if __name__ == "__main__":
    main(*sys.argv[1:])
