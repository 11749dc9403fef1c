"""What kernels/attention commits for sm_90a, proven on a GPU. In: kiln, this repository, a folder for results, what to do
(`sanitize`, `bench`), seconds, and workloads where not all are meant. Out: rows.jsonl there, a line for each configuration or workload, and a table as the last lines; exits
with 1 when a tool found something.

    python3 scripts/gpu_rows.py target/gpu/kiln . $OUT sanitize,bench 400

sanitize: memcheck, racecheck and synccheck on every committed configuration of implementation `hopper`, on shapes that no tile
divides: heads that share keys, a mask. bench: each row on its own shape against PyTorch's own choice."""

import json
import os
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

kiln, root, out, what, seconds = (os.path.abspath(word) if number < 3 else word for number, word in enumerate(sys.argv[1:6]))
only = sys.argv[6].split(",") if len(sys.argv) > 6 else []
kernel, begun = os.path.join(root, "kernels/attention"), time.time()
# Of each width, one with a mask and one where some queries see no key.
SMALL = {64: ("causal_d64", "unseen_d64"), 128: ("gqa_d128", "unseen_d128"), 256: ("gqa_d256", "unseen_d256")}
TOOLS = ("memcheck", "racecheck", "synccheck")
AT_ONCE = 6  # sanitizers give no times


def left():
    return float(seconds) - (time.time() - begun)


def words(config):
    return ",".join(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in config.items())


def ran(arguments, folder, limit):
    """A command's JSON, or why there is none."""
    os.makedirs(folder, exist_ok=True)
    try:
        done = subprocess.run([kiln, *arguments, "--json"], capture_output=True, text=True, timeout=max(1, limit), cwd=folder)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"failed": "no time left"}
    except ValueError:
        return {"failed": done.stderr.strip()[-300:]}


def rows():
    table = tomllib.load(open(os.path.join(kernel, "results/tuned.toml"), "rb"))["tuned"]
    return [row for row in table if row["arch"] == "sm_90a" and row["config"]["implementation"] == "hopper" and (not only or row["workload"] in only)]


def keep(line):
    with open(os.path.join(out, "rows.jsonl"), "a") as file:
        file.write(json.dumps(line) + "\n")


def sanitize():
    jobs = []
    for row in rows():
        job = (row["dims"]["D"], words(row["config"]))
        if job not in jobs:
            jobs.append(job)
    jobs = [(d, config, workload, tool) for d, config in jobs for workload in SMALL[d] for tool in TOOLS]

    def run(job):
        d, config, workload, tool = job
        folder = os.path.join(out, "work", str(jobs.index(job)))
        arguments = ["sanitize", kernel, "--target", "cuda", "--variant", "T=bf16", "--workload", workload, "--config", config, "--tool", tool]
        found = ran([*arguments, "--seed", "1", "--limit", "120"], folder, left())
        keep({"sanitize": config, "d": d, "workload": workload, "tool": tool, "found": found})
        return found.get("verdict") or found.get("failed", "nothing")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = list(pool.map(run, jobs))
    counted = {tool: {} for tool in TOOLS}
    for (d, config, workload, tool), verdict in zip(jobs, verdicts):
        counted[tool][verdict] = counted[tool].get(verdict, 0) + 1
        if verdict != "clean":
            print(f"{tool} on {workload}: {verdict}: {config}")
    print("sanitizers:", ", ".join(f"{tool} {counted[tool]}" for tool in TOOLS), f"of {len(jobs) // len(TOOLS)} each")
    return all(verdict == "clean" for verdict in verdicts)


def bench():
    for row in rows():
        name = row["workload"]
        arguments = ["bench", kernel, "--target", "cuda", "--variant", "T=bf16", "--workload", name, "--baseline", "torch", "--config", words(row["config"])]
        found = ran([*arguments, "--seed", "1"], os.path.join(out, "work", "bench"), left())
        keep({"bench": name, "found": found})
        try:
            measured = found["workloads"][0]
            against = measured["baselines"][0]
            low, high = against["speedup_ci95"]
            text = f"{1e6 * measured['times']['median']:9.2f} us  {against['speedup']:.3f}x [{low:.3f}, {high:.3f}]  {against['verdict']}"
        except (KeyError, IndexError, TypeError):
            text = json.dumps(found)[:200]
        print(f"{name:22s} {text}", flush=True)
    return True


sound = [globals()[step]() for step in what.split(",")]
print(f"{time.time() - begun:.0f} s")
sys.exit(not all(sound))
