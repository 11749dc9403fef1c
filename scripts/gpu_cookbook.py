#!/usr/bin/env python3
"""Measures every recipe of kernels/cookbook: what a profile of the kernel before the fix promises, and what the fix gives.

    gpu_cookbook.py KILN ROOT OUT [--seconds S] [--target cpu] [--only NAME,...]
    gpu_cookbook.py KILN ROOT --check [--target cpu]      anywhere: compiles every configuration (for sm_90a), none may spill that the recipe does not name;
                                                          those for a processor are run and checked

Everything is built first, in parallel. Then, recipe by recipe: `kiln bench` of each step, the configuration after it against the one before, which checks
the results of both; `kiln profile` of each configuration before, on every workload. At the end, while there is time, a profile after the first step.

OUT gets outcomes.jsonl, a line for each step and workload as soon as it is known, with the keys of fixtures/outcomes (docs/cookbook.md describes them); cookbook.jsonl, the same with
more keys, and the profiles after, for scripts/cookbook_table.py; commands.jsonl, every command with its exit code and its time; and figures.jsonl. What would begin after
S seconds (380) is left out, so that a run that is cut costs the last recipes only.
"""

import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib

# Those whose cause no earlier recipe has come first.
ORDER = """coalesce bank_pad launch_bounds shared_request split_rows compact fewer_barriers histogram float_literals exponentials tensor_cores chains
wide_loads held_values last_wave one_launch members fuse horner transpose total prefetch local_array""".split()

parser = argparse.ArgumentParser()
parser.add_argument("kiln")
parser.add_argument("root")
parser.add_argument("out", nargs="?", default="")
parser.add_argument("--check", action="store_true")
parser.add_argument("--seconds", type=float, default=380)
parser.add_argument("--target", default="cuda")
parser.add_argument("--only", default="")
flags = parser.parse_args()
if bool(flags.out) == flags.check:
    parser.error("expected either OUT or --check")
KILN, BOOK, OUT = os.path.realpath(flags.kiln), os.path.join(os.path.realpath(flags.root), "kernels", "cookbook"), os.path.realpath(flags.out)
DEADLINE = time.monotonic() + flags.seconds
WORKPLACE = tempfile.TemporaryDirectory(prefix="kiln-cookbook-")
WORK = WORKPLACE.name


def write(name, row):
    with open(os.path.join(OUT, name), "a") as file:
        file.write(json.dumps(row) + "\n")


def spoken(line):
    """A command as a reader would type it in the repository."""
    return shlex.join(["kiln", line[1], os.path.join("kernels", "cookbook", os.path.basename(line[2])), *line[3:]])


def kiln(verb, recipe, *more, limit=90):
    """What a command prints as JSON; nothing where it failed or there is no time."""
    line = [KILN, verb, os.path.join(BOOK, recipe), "--target", flags.target, *more, "--json"]
    begun = time.monotonic()
    if begun > DEADLINE:
        write("commands.jsonl", {"command": spoken(line), "left_out": True})
        return None
    try:
        ran = subprocess.run(line, cwd=WORK, capture_output=True, text=True, timeout=limit)
        code, out, err = ran.returncode, ran.stdout, ran.stderr
    except subprocess.TimeoutExpired:
        code, out, err = -1, "", "timed out"
    try:
        found = json.loads(out)
    except ValueError:
        found = None
    good = code == 0 and found is not None
    row = {"command": spoken(line), "code": code, "seconds": round(time.monotonic() - begun, 2)}
    write("commands.jsonl", row if good else {**row, "said": (out + err)[-1500:]})
    return found if good else None


def recipes():
    """Names and steps, those of the target alone."""
    found = {}
    for path in glob.glob(os.path.join(BOOK, "*", "recipe.toml")):
        folder = os.path.dirname(path)
        with open(os.path.join(folder, "kernel.toml"), "rb") as kernel, open(path, "rb") as recipe:
            spec, own = tomllib.load(kernel), tomllib.load(recipe)
        name = os.path.basename(folder)
        if flags.target in spec["target"] and (not flags.only or name in flags.only.split(",")):
            own["workloads"] = [w["name"] for w in spec["workloads"] if w.get("use", "tune") == "tune"]
            found[name] = own
    return dict(sorted(found.items(), key=lambda item: (ORDER.index(item[0]) if item[0] in ORDER else len(ORDER), item[0])))


def configurations(recipe):
    return list(dict.fromkeys(config for step in recipe["steps"] for config in (step["before"], step["after"])))


def bench(name, step):
    """Speedups of a step by workload, and the command."""
    more = ["--config", step["after"], "--against", step["before"], "--samples", "25", "--max-samples", "25", "--seed", "1"]
    found = kiln("bench", name, *more)
    line = spoken([KILN, "bench", name, "--target", flags.target, *more])
    if not found:
        return {}, line, None
    return {w["workload"]: next(b for b in w["baselines"] if b["name"] == step["before"] or len(w["baselines"]) == 1) for w in found["workloads"]}, line, found["device"]


def promise(found, cause, fix):
    """What a profile promises of a fix; nothing where its cause is not claimed."""
    ranked = {one["cause"]: one["expected_speedup"] for one in found.get("ranked", [])}
    own = {one["what"]: one["expected_speedup"] for one in found.get("fixes", [])}
    if cause not in ranked:
        return None
    return {"ratio": own.get(fix, ranked[cause]) if found.get("cause") == cause else ranked[cause]}


def measure(name, recipe):
    """Every step of a recipe on every workload: how many outcomes that gave."""
    given = [(step, *bench(name, step)) for step in recipe["steps"]]
    wanted = dict.fromkeys(step["before"] for step, speedups, _, _ in given if speedups)
    count = 0
    for workload in recipe["workloads"]:
        profiles = {config: kiln("profile", name, "--config", config, "--workload", workload, "--seed", "1") for config in wanted}
        for step, speedups, line, device in given:
            found, got = profiles.get(step["before"]), speedups.get(workload)
            if not found or not got:
                continue
            cause = step.get("cause", recipe["cause"])
            low, high = got["speedup_ci95"]
            row = {"kernel": "cookbook/" + name, "workload": workload, "chip": device, "cause": cause, "fix": step["fix"], "promised": promise(found, cause, step["fix"])}
            row["measured"] = {"ratio": round(got["speedup"], 4), "low": round(low, 4), "high": round(high, 4)}
            row.update(command=line, source="kernels/cookbook/" + name)
            if flags.target == "cuda":
                write("outcomes.jsonl", row)
            more = {"before": step["before"], "after": step["after"], "wrong": step.get("wrong", False), "first": found.get("cause"), "confidence": found.get("confidence")}
            write("cookbook.jsonl", {**row, **more, "verdict": got["verdict"], "time_us": found.get("time_us"), "date": datetime.date.today().isoformat()})
            count += 1
    return count


def parsed(config):
    """NAME=VALUE,... as a set of pairs."""
    return frozenset(tuple(pair.split("=")) for pair in config.split(","))


def compiled(name, recipe):
    """What is wrong with a recipe's configurations: one that is not built, or spills where the recipe does not say so."""
    line = [KILN, "tune", os.path.join(BOOK, name), "--target", "cuda", "--arch", "sm_90a", "--until", "build", "--trials", "1000", "--seed", "1", "--json"]
    ran = subprocess.run(line, cwd=WORK, capture_output=True, text=True)
    if ran.returncode:
        return [name + ": " + (ran.stdout + ran.stderr)[-1500:]]
    built = {frozenset((key, str(value)) for key, value in one["config"].items()): one for one in json.loads(ran.stdout)["configurations"]}
    wrong = ["%s: %s is no configuration" % (name, config) for config in configurations(recipe) if parsed(config) not in built]
    spills = {parsed(config) for config in recipe.get("spills", [])}
    for config, one in built.items():
        spilled = sum(kernel["spilled_bytes"] for kernel in one["resources"])
        if not one["passed"] or bool(spilled) != (config in spills):
            wrong.append("%s %s: %s" % (name, one["config"], "%d bytes spilled, and recipe.toml says otherwise" % spilled if one["passed"] else one["refusal"]))
    return wrong


def correct(name, recipe):
    """What is wrong with a recipe's results on a processor."""
    runs = [(config, subprocess.run([KILN, "check", os.path.join(BOOK, name), "--target", "cpu", "--config", config], cwd=WORK, capture_output=True, text=True)) for config in configurations(recipe)]
    return ["%s %s: %s" % (name, config, (ran.stdout + ran.stderr)[-1500:]) for config, ran in runs if ran.returncode]


def check():
    book = recipes()
    one = compiled if flags.target == "cuda" else correct
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [words for found in pool.map(lambda item: one(*item), book.items()) for words in found]
    for words in wrong:
        print(words, file=sys.stderr)
    print("%d recipes for %s, %d mistakes" % (len(book), flags.target, len(wrong)))
    return 1 if wrong or not book else 0


def main():
    os.makedirs(OUT, exist_ok=True)
    book = recipes()
    begun = time.monotonic()
    jobs = [(name, config) for name, recipe in book.items() for config in configurations(recipe)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(lambda job: kiln("gate", job[0], "--config", job[1], "--until", "build"), jobs))
    refused = [" ".join(job) for job, one in zip(jobs, built) if not one or not one.get("passed")]
    print("%d configurations built in %.1f s%s" % (len(jobs), time.monotonic() - begun, ", refused: " + ", ".join(refused) if refused else ""), flush=True)
    outcomes, kernels = 0, 0
    for name, recipe in book.items():
        before = time.monotonic()
        count = measure(name, recipe)
        outcomes, kernels = outcomes + count, kernels + bool(count)
        print("%-16s %2d outcomes of %2d, %.1f s" % (name, count, len(recipe["steps"]) * len(recipe["workloads"]), time.monotonic() - before), flush=True)
    for name, recipe in book.items():
        found = kiln("profile", name, "--config", recipe["steps"][0]["after"], "--workload", recipe["workloads"][-1], "--seed", "1")
        if found:
            row = {"kernel": "cookbook/" + name, "workload": recipe["workloads"][-1], "profiled_after": recipe["steps"][0]["after"], "first": found.get("cause")}
            write("cookbook.jsonl", {**row, "expected_speedup": found.get("expected_speedup"), "time_us": found.get("time_us")})
    for what, value, least in [("cookbook: outcomes", outcomes, 60), ("cookbook: kernels with outcomes", kernels, 12), ("cookbook: configurations refused", len(refused), None)]:
        good = value >= least if least else value == 0
        write("figures.jsonl", {"name": what, "value": value, "bound": "at least %d" % least if least else "0", "pass": good or flags.target != "cuda"})
    return 0 if not refused and (flags.target != "cuda" or outcomes >= 60) else 1


sys.exit(check() if flags.check else main())
