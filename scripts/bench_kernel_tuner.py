#!/usr/bin/env python3
"""kiln beside Kernel Tuner on Kernel Tuner's own CUDA examples, on the GPU of this machine. Standard library only.

For each example both search the same space, on the same sizes, for the same seconds from the start of their process:
kiln with its own strategy, its seconds including the check of every configuration, finals and confirmation; Kernel Tuner
in random order, which on a small space is all of it, with the `answer` that the example's script gives. Each measures by
its own rules, so the two winners are then measured by one judge: `kiln bench --config KILN'S --against KERNEL TUNER'S`.
A configuration counts as within 5 % when its own time, scaled by what the judge made of that tool's winner, is at most
1.05 times the faster winner's.

When time is left: the judge once more with warm caches, and Kernel Tuner with its best strategy on the large spaces.

usage: scripts/bench_kernel_tuner.py --kiln BINARY --sources FOLDER --modules FOLDER [--seconds 470] [--out FOLDER]
       [--only NAMES] [--python PYTHON]
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The most telling first. For each: seconds for each side, and sizes other than the kernel file's.
EXAMPLES = {
    "convolution": (45, {}),
    "reduction": (25, {"N": 20_000_000}),
    "pnpoly": (25, {"N": 2_000_000}),
    "matmul": (20, {}),
    "spmv": (20, {}),
    "zeromean_vertical": (15, {}),
    "stencil": (15, {}),
}
LARGE = ("convolution", "reduction", "pnpoly")
# Each side gets this share of what a kernel may take: two sides, what they exceed their time by, the judge.
SHARE = 0.35
JUDGE_SECONDS = 40
WITHIN = 1.05
PHASES = ("default", "seed", "search")
SAME = "same configuration"


class Run:
    def __init__(self, args):
        self.args = args
        self.ends = time.monotonic() + args.seconds
        self.rows = []
        self.work = pathlib.Path(args.work).resolve()
        self.out = pathlib.Path(args.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.live = None

    def left(self):
        return self.ends - time.monotonic()

    def command(self, words, log, seconds, cwd, env=None, gentle=False):
        """Runs a program in a process group of its own; after so many seconds it is interrupted, then killed."""
        with open(log, "ab") as stderr, open(f"{log}.out", "wb") as stdout:
            process = subprocess.Popen(words, cwd=cwd, env=env, stdout=stdout, stderr=stderr, start_new_session=True)
            self.live = process
            try:
                for signals, wait in (
                    (None, seconds),
                    (signal.SIGINT, 4 if gentle else 0),
                    (signal.SIGINT, 3),
                    (signal.SIGKILL, 5),
                ):
                    if signals is not None:
                        try:
                            os.killpg(process.pid, signals)
                        except ProcessLookupError:
                            pass
                    try:
                        process.wait(max(0.0, wait))
                        break
                    except subprocess.TimeoutExpired:
                        continue
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                self.live = None
        return process.returncode, pathlib.Path(f"{log}.out").read_text(errors="replace")


def prepared(run, name, sizes):
    """A folder with the kernel file, its functions and the sources; its dims."""
    folder = run.work / name / "kernel"
    shutil.rmtree(folder.parent, ignore_errors=True)
    shutil.copytree(ROOT / "tests/kernel_tuner" / name, folder)
    for source in pathlib.Path(run.args.sources).glob("*.cu"):
        shutil.copy(source, folder)
    file = folder / "kernel.toml"
    text = file.read_text()
    dims = {}
    for line in text.splitlines():
        if line.startswith("dims = {"):
            pairs = line[line.index("{") + 1 : line.index("}")].split(",")
            dims = {key.strip(): int(value) for key, value in (pair.split("=") for pair in pairs)}
            for key, value in sizes.items():
                dims[key] = value
            text = text.replace(line, "dims = { " + ", ".join(f"{key} = {value}" for key, value in dims.items()) + " }")
    assert all(dims.get(key) == value for key, value in sizes.items()), f"{name}: no such dims"
    file.write_text(text)
    return folder, dims


def by_kiln(run, name, folder, seconds):
    here = folder.parent / "kiln"
    here.mkdir()
    words = [run.args.kiln, "tune", str(folder), "--minutes", f"{seconds / 60:.4f}", "--trials", "100000", "--seed", "1"]
    words += ["--no-ablation", "--no-stop", "--no-prior", "--no-profile", "--no-sanitize", "--build-limit", "15", "--json"]
    began = time.time()
    code, told = run.command(words, run.out / f"{name}_kiln.log", seconds + 12, here, gentle=True)
    ended = time.time()
    shown = subprocess.run([run.args.kiln, "show", "last", "--json"], cwd=here, capture_output=True, text=True, timeout=30)
    if shown.returncode != 0:
        return {"tool": "kiln", "error": f"exit {code}: {tail(run.out / f'{name}_kiln.log')}", "trials": []}
    study = json.loads(shown.stdout)
    (run.out / f"{name}_kiln.json").write_text(shown.stdout)
    trials = []
    for trial in study["trials"]:
        if trial["phase"].split("/")[-1] in PHASES:
            start = trial["started_ms"] / 1000 - began
            known = trial["state"] == "passed" and trial["cost"]
            trials.append(
                {
                    "config": trial["config"],
                    "start": start,
                    "end": start + trial["wall_s"],
                    "time": trial["cost"] if known else None,
                }
            )
    side = summed({"tool": "kiln", "strategy": "auto", "seconds": ended - began, "exit": code}, trials)
    try:
        chosen = json.loads(told).get("config")
    except ValueError:
        chosen = None
    # What it says itself, once confirmed; otherwise what was fastest.
    side["confirmed"] = bool(chosen)
    if chosen:
        side["winner"] = ",".join(f"{key}={word(value)}" for key, value in chosen.items())
        own = [trial["time"] for trial in trials if trial["config"] == side["winner"] and trial["time"]]
        side["best_s"] = min(own) if own else side["best_s"]
    return side


def by_kernel_tuner(run, name, folder, dims, seconds, strategy):
    tag = f"{name}_kernel_tuner_{strategy}"
    rows = run.out / f"{tag}.jsonl"
    rows.unlink(missing_ok=True)
    env = dict(os.environ, PYTHONHASHSEED="0", CUPY_CACHE_DIR=str(folder.parent / f"cupy_{strategy}"))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(pathlib.Path(run.args.modules).resolve()), env.get("PYTHONPATH")]))
    for again in (False, True):
        began = time.time()
        words = [
            run.args.python,
            str(ROOT / "scripts/peers/kernel_tuner_tune.py"),
            name,
            "--sources",
            str(pathlib.Path(run.args.sources).resolve()),
        ]
        words += [
            "--out",
            str(rows),
            "--began",
            repr(began),
            "--seconds",
            str(seconds),
            "--strategy",
            strategy,
            "--dims",
            json.dumps(dims),
        ]
        code, _ = run.command(words, run.out / f"{tag}.log", seconds + 5, folder.parent, env)
        ended = time.time()
        lines = [json.loads(line) for line in rows.read_text().splitlines() if line.endswith("}")] if rows.exists() else []
        tried = [line for line in lines if "config" in line]
        if tried or code == 0 or again or ended - began > 12:
            break
        # Without a compiler that it finds by itself: the usual place.
        env |= {"CUDA_PATH": "/usr/local/cuda", "LD_LIBRARY_PATH": "/usr/local/cuda/lib64:" + env.get("LD_LIBRARY_PATH", "")}
    trials, before = [], next((line["prepared"] for line in lines if "prepared" in line), began) - began
    for line in tried:
        end = line["ended"] - began
        text = ",".join(f"{key}={value}" for key, value in line["config"].items() if not key.startswith("filter_"))
        trials.append({"config": text, "start": before, "end": end, "time": line["time"] and line["time"] / 1000})
        before = end
    side = summed({"tool": "Kernel Tuner", "strategy": strategy, "seconds": ended - began, "exit": code}, trials)
    side["compile_share"] = sum(line["compile_time"] for line in tried) / 1000 / max(1e-9, ended - began)
    if code != 0:
        side["error"] = f"exit {code}: {tail(run.out / f'{tag}.log')}"
    return side


def summed(side, trials):
    measured = [trial for trial in trials if trial["time"]]
    best = min(measured, key=lambda trial: trial["time"], default=None)
    span = max((trial["end"] for trial in trials), default=0) - min((trial["start"] for trial in trials), default=0)
    side |= {
        "trials": trials,
        "tried": len(trials),
        "measured": len(measured),
        "start_s": min((t["start"] for t in trials), default=None),
    }
    side |= {"trials_per_s": len(trials) / span if span > 0 else None}
    side |= {"winner": best and best["config"], "best_s": best and best["time"]}
    return side


def judged(run, name, folder, ours, theirs, how=()):
    """kiln's winner against Kernel Tuner's, by `kiln bench`."""
    if ours == theirs:
        return {"speedup": 1.0, "speedup_ci95": [1.0, 1.0], "verdict": SAME}
    words = [run.args.kiln, "bench", str(folder), "--config", ours, "--against", theirs, "--samples", "25", "--max-samples", "25"]
    log = run.out / f"{name}_judge{''.join(how)}.log"
    code, told = run.command([*words, *how, "--seed", "1", "--json"], log, min(JUDGE_SECONDS, run.left()), folder.parent / "kiln")
    try:
        workload = json.loads(told)["workloads"][0]
        against = workload["baselines"][0]
        kept = {key: against[key] for key in ("speedup", "speedup_ci95", "verdict")}
        return kept | {"kiln_s": against["candidate"]["median"], "kernel_tuner_s": against["baseline"]["median"]}
    except (ValueError, LookupError, TypeError):
        return {"error": f"exit {code}: {told[-600:]} {tail(log)}"}


def reached(side, judge, judged_s, own_s):
    """Seconds from the start of the process to the first configuration within 5 % of the faster winner, or none. The
    judge's time of this tool's winner beside the tool's own says how its other times are to be read."""
    if not judge or not own_s:
        return None
    if judge.get("verdict") == SAME:
        scale, goal = 1.0, WITHIN * own_s
    elif judge.get(judged_s):
        scale, goal = judge[judged_s] / own_s, WITHIN * min(judge["kiln_s"], judge["kernel_tuner_s"])
    else:
        return None
    return min((t["end"] for t in side["trials"] if t["time"] and t["time"] * scale <= goal), default=None)


def example(run, name, number, count):
    seconds, sizes = EXAMPLES[name]
    wanted = sum(EXAMPLES[later][0] for later in run.args.only[number:])
    seconds = min(seconds, run.left() * SHARE * seconds / wanted)
    if seconds < 6:
        return {"name": name, "error": "no time was left"}
    folder, dims = prepared(run, name, sizes)
    row = {"name": name, "dims": dims, "seconds": seconds, "folder": str(folder)}
    run.rows.append(row)
    sides = [
        ("kiln", lambda: by_kiln(run, name, folder, seconds)),
        ("kernel_tuner", lambda: by_kernel_tuner(run, name, folder, dims, seconds, "random_sample")),
    ]
    # In turns: whoever comes second finds a warmer GPU.
    for key, tune in sides if number % 2 == 0 else reversed(sides):
        row[key] = tune()
    ours, theirs = row["kiln"].get("winner"), row["kernel_tuner"].get("winner")
    if ours and theirs:
        row["judge"] = judged(run, name, folder, ours, theirs)
    return row


def settle(row):
    judge = row.get("judge")
    for key, tool in (("kiln", "kiln"), ("kernel_tuner", "kernel_tuner"), ("best_strategy", "kernel_tuner")):
        if row.get(key):
            row[key]["within_5_s"] = reached(row[key], judge, f"{tool}_s", (row.get(tool) or {}).get("best_s"))


def figures(row):
    """One JSON object for each figure, in the form of scripts/gpu.sh."""
    made = []
    judge = row.get("judge") or {}
    if "speedup" in judge:
        low, high = judge["speedup_ci95"]
        made.append(
            (
                f"{row['name']}: Kernel Tuner's best against kiln's, times as long [{low:.3f}, {high:.3f}]",
                judge["speedup"],
                "at least 0.95",
                judge["speedup"] >= 0.95,
            )
        )
    for key, title in (("kiln", "kiln"), ("kernel_tuner", "Kernel Tuner")):
        side = row.get(key) or {}
        for field, what in (
            ("within_5_s", "seconds to within 5 % of the best"),
            ("best_s", "best by its own measure, ms"),
            ("trials_per_s", "trials a second"),
        ):
            value = side.get(field)
            if value is not None:
                made.append((f"{row['name']}: {what}, {title}", value * (1000 if field == "best_s" else 1), "reported", True))
    return [json.dumps({"name": name, "value": value, "bound": bound, "pass": good}) for name, value, bound, good in made]


def table(rows):
    show = lambda value, form="{:.1f}": "-" if value is None else form.format(value)
    lines = [
        "| example | seconds each | tool | started after | tried | trials a second | own best, ms | within 5 % after | winner |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        for key in ("kiln", "kernel_tuner", "best_strategy"):
            side = row.get(key)
            if side:
                best = side.get("best_s")
                cells = [
                    row["name"],
                    show(row.get("seconds")),
                    f"{side['tool']} {side.get('strategy', '')}",
                    show(side.get("start_s"), "{:.1f} s"),
                    side.get("tried", 0),
                    show(side.get("trials_per_s"), "{:.2f}"),
                    show(best and best * 1000, "{:.4f}"),
                    show(side.get("within_5_s"), "{:.1f} s"),
                    side.get("winner") or side.get("error", "-")[:120],
                ]
                lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| example | Kernel Tuner's winner takes, times kiln's | verdict | with warm caches |", "|---|---|---|---|"]
    for row in rows:
        judge, warm = row.get("judge") or {}, row.get("judge_warm") or {}
        said = lambda one: (
            f"{one['speedup']:.3f} [{one['speedup_ci95'][0]:.3f}, {one['speedup_ci95'][1]:.3f}]"
            if "speedup" in one
            else one.get("error", "-")[:160].replace("\n", " ")
        )
        lines.append(f"| {row['name']} | {said(judge)} | {judge.get('verdict', '-')} | {said(warm)} |")
    return "\n".join(lines)


def keep(run):
    for row in run.rows:
        settle(row)
    (run.out / "kernel_tuner.json").write_text(json.dumps(run.rows, indent=1))
    (run.out / "kernel_tuner.md").write_text(table(run.rows) + "\n")


def word(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def tail(log):
    try:
        return pathlib.Path(log).read_text(errors="replace").strip()[-300:]
    except OSError:
        return ""


def more(run):
    """What the rest of the time is for."""
    full = [row for row in run.rows if (row.get("judge") or {}).get("kiln_s")]
    for row in full:
        if run.left() > 25:
            row["judge_warm"] = judged(
                run, row["name"], pathlib.Path(row["folder"]), row["kiln"]["winner"], row["kernel_tuner"]["winner"], ("--warm",)
            )
            keep(run)
    for row in run.rows:
        if row["name"] in LARGE and row.get("kernel_tuner") and run.left() > row["seconds"] + 8:
            row["best_strategy"] = by_kernel_tuner(
                run, row["name"], pathlib.Path(row["folder"]), row["dims"], row["seconds"], "adaptive_tabu_greywolf"
            )
            keep(run)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", required=True, help="kiln's binary")
    parser.add_argument("--sources", required=True, help="folder with Kernel Tuner's CUDA examples")
    parser.add_argument("--modules", required=True, help="folder that scripts/peers/kernel_tuner_wheels.sh filled")
    parser.add_argument("--python", default=sys.executable, help="a Python with numpy and cupy [this one]")
    parser.add_argument("--seconds", type=float, default=470, help="for everything [470]")
    parser.add_argument("--only", default=",".join(EXAMPLES), help="examples, in this order")
    parser.add_argument("--work", default="kernel_tuner_work", help="folder for studies and caches")
    parser.add_argument("--out", default="kernel_tuner_out", help="folder for results")
    args = parser.parse_args()
    args.kiln = str(pathlib.Path(args.kiln).resolve())
    args.only = args.only.split(",")
    run = Run(args)

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        for number, name in enumerate(args.only):
            try:
                row = example(run, name, number, len(args.only))
                if row not in run.rows:
                    run.rows.append(row)
            except Exception as problem:
                print(f"{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
                if not run.rows or run.rows[-1]["name"] != name:
                    run.rows.append({"name": name})
                run.rows[-1]["error"] = f"{type(problem).__name__}: {problem}"
            keep(run)
            for line in figures(run.rows[-1]):
                print(line, flush=True)
        more(run)
    except KeyboardInterrupt:
        print("interrupted: what was measured is kept", file=sys.stderr)
    keep(run)
    print(table(run.rows))
    incomplete = [row["name"] for row in run.rows if "speedup" not in (row.get("judge") or {})]
    if incomplete or len(run.rows) < len(args.only):
        sys.exit(f"incomplete: {', '.join(incomplete) or 'not all were begun'}")


if __name__ == "__main__":
    main()
