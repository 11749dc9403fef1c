#!/usr/bin/env python3
"""How well changes of level are found in noisy histories: kiln beside Apache Otava, on the same series.

    python3 -m venv venv && venv/bin/pip install apache-otava
    venv/bin/python scripts/changepoints.py FOLDER [--kiln target/release/kiln] [--per 20] [--seed 1]

FOLDER holds recorded tuning spaces of benchmark_hub (*.json.gz, with the raw samples of every configuration). Their
samples, each relative to the median of its configuration, are the noise of series of 100 points. In each series none to
three shifts of 3, 5 or 10 %, up or down, are planted at drawn places, 8 points apart at least. Four kinds of noise:

    one      samples of one configuration, drawn at random
    mixed    each point from another configuration
    medians  each point the median of 5 samples of a configuration, as a benchmark would report
    order    samples in the order they were taken, one configuration after another: warm-up, clocks, drift

A change found within 2 points of a planted one is right; every other one is wrong. Otava runs with its defaults and with
other settings; kiln with its defaults. Prints tables; docs/history.md has those of the last run. The exit code is 1 where
kiln's F1 is below Otava's best.
"""

import argparse
import glob
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import time

LENGTH = 100
APART = 8
NEAR = 2
SIZES = (0.03, 0.05, 0.10)
KINDS = ("one", "mixed", "medians", "order")


def pools(folder):
    """Samples of every configuration relative to their median, by recorded space."""
    found = {}
    for file in sorted(glob.glob(os.path.join(folder, "*.json.gz"))):
        with gzip.open(file) as opened:
            data = json.load(opened)
        rows = []
        # T4 files hold the same spaces once more.
        for entry in data.get("cache", {}).values():
            times = entry.get("times")
            if isinstance(times, list) and len(times) >= 10:
                middle = statistics.median(times)
                if middle > 0 and min(times) > 0:
                    rows.append([sample / middle for sample in times])
        if rows:
            found[os.path.basename(file)[: -len(".json.gz")]] = rows
    return found


def noise(rng, pool, kind):
    if kind == "one":
        samples = rng.choice(pool)
        return [rng.choice(samples) for _ in range(LENGTH)]
    if kind == "mixed":
        return [rng.choice(rng.choice(pool)) for _ in range(LENGTH)]
    if kind == "medians":
        return [statistics.median(rng.choice(samples) for _ in range(5)) for samples in (rng.choice(pool) for _ in range(LENGTH))]
    place, series = rng.randrange(len(pool)), []
    while len(series) < LENGTH:
        series += pool[place % len(pool)]
        place += 1
    return series[:LENGTH]


def planted(rng, pool, kind, size):
    """A series and where its level changes."""
    changes = rng.choice((0, 1, 1, 2, 2, 3))
    while True:
        at = sorted(rng.sample(range(APART, LENGTH - APART + 1), changes))
        if all(after - before >= APART for before, after in zip(at, at[1:])):
            break
    level, series = 1.0, []
    for place, value in enumerate(noise(rng, pool, kind)):
        if place in at:
            level *= 1 + size if rng.random() < 0.5 else 1 / (1 + size)
        series.append(value * level)
    return series, at


def score(found, true):
    """How many are right, wrong and missed; the nearest pairs first."""
    pairs = sorted((abs(f - t), f, t) for f in found for t in true if abs(f - t) <= NEAR)
    used_found, used_true = set(), set()
    for _, f, t in pairs:
        if f not in used_found and t not in used_true:
            used_found.add(f)
            used_true.add(t)
    right = len(used_found)
    return right, len(found) - right, len(true) - right


def by_kiln(kiln, all_series):
    text = json.dumps([{"name": str(place), "values": series} for place, series in enumerate(all_series)])
    ran = subprocess.run([kiln, "history", "--series", "-", "--json"], input=text, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    return [[change["index"] for change in series["changes"]] for series in json.loads(ran.stdout)["series"]]


def by_otava(all_series, **settings):
    from otava.analysis import compute_change_points

    return [[point.index for point in compute_change_points(list(series), **settings)[0]] for series in all_series]


def figures(counts):
    right, wrong, missed = counts
    precision = right / (right + wrong) if right + wrong else 1.0
    recall = right / (right + missed) if right + missed else 1.0
    f1 = 2 * right / (2 * right + wrong + missed) if right + wrong + missed else 1.0
    return precision, recall, f1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--kiln", default="target/release/kiln")
    parser.add_argument("--per", type=int, default=20, help="series of each space, kind of noise and size")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    cases = []
    for pool in pools(args.folder).values():
        for kind in KINDS:
            for size in SIZES:
                cases += [(kind, size, *planted(rng, pool, kind, size)) for _ in range(args.per)]
    if not cases:
        sys.exit(f"{args.folder} holds no recorded spaces (*.json.gz)")
    all_series = [case[2] for case in cases]
    methods = {
        "kiln": lambda: by_kiln(os.path.abspath(args.kiln), all_series),
        "Otava, defaults": lambda: by_otava(all_series),
        "Otava, 2 %": lambda: by_otava(all_series, min_magnitude=0.02),
        "Otava, 2 %, p 1e-4": lambda: by_otava(all_series, min_magnitude=0.02, max_pvalue=1e-4),
        "Otava, 2 %, p 1e-5": lambda: by_otava(all_series, min_magnitude=0.02, max_pvalue=1e-5),
        "Otava, 2 %, p 1e-6": lambda: by_otava(all_series, min_magnitude=0.02, max_pvalue=1e-6),
    }
    columns = ["all", *SIZES, *KINDS]
    titles = ["all", *(f"{100 * size:.0f} %" for size in SIZES), *KINDS]
    print(f"{len(cases)} series of {LENGTH} points, {sum(len(case[3]) for case in cases)} planted shifts\n")
    print("| method | precision | recall | F1 | " + " | ".join(f"F1 {title}" for title in titles[1:]) + " | no shift, none found | seconds |")
    print("|---|" + "---|" * (len(titles) + 4))
    best = {}
    for name, method in methods.items():
        began = time.time()
        answers = method()
        seconds = time.time() - began
        counts = {column: [0, 0, 0] for column in columns}
        quiet = [0, 0]
        for (kind, size, _, true), found in zip(cases, answers):
            for column in ("all", size, kind):
                counts[column] = [a + b for a, b in zip(counts[column], score(found, true))]
            if not true:
                quiet = [quiet[0] + (not found), quiet[1] + 1]
        precision, recall, f1 = figures(counts["all"])
        best[name] = f1
        parts = " | ".join(f"{figures(counts[column])[2]:.3f}" for column in columns[1:])
        silent = f"{100 * quiet[0] / max(1, quiet[1]):.0f} %"
        print(f"| {name} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {parts} | {silent} | {seconds:.1f} |", flush=True)
    others = max(value for name, value in best.items() if name != "kiln")
    print(f"\nkiln's F1 {best['kiln']:.3f}, Otava's best {others:.3f}")
    return 0 if best["kiln"] >= others else 1


if __name__ == "__main__":
    sys.exit(main())
