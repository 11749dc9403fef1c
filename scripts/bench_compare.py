"""The driver of scripts/bench_compare.sh: measures runs, compares every pair, counts verdicts. Standard library only."""

import argparse
import concurrent.futures
import gzip
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIFTS = (0.0, 0.03, 0.05, 0.10)
# nvbench's compare script calls two states different when their medians are this far apart and [min, q3] do not overlap.
GAP = 0.005
# False regressions that are allowed. The peers' rules are also counted with thresholds that keep to it, chosen on these very
# samples: no rule of theirs does better.
FALSE = 0.005


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    measure(args)
    files = sorted(args.out.glob("run-*.json"))
    if len(files) < 2:
        sys.exit("bench_compare: fewer than two runs")
    pairs = list(itertools.combinations(files, 2))
    # Which of the two came first must not matter.
    random.Random(1).shuffle(pairs)
    pairs = [pair if number % 2 else pair[::-1] for number, pair in enumerate(pairs)][: args.pairs]
    print(f"{len(files)} runs of {args.kernel}, workload {args.workload}, {args.samples} samples each; {len(pairs)} pairs")
    table("own runs", [(samples(one), samples(two), (one, two)) for one, two in pairs], args)
    if args.recorded:
        table("recorded samples", recorded(args.recorded, args.pairs), args)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench_compare.sh")
    parser.add_argument("--runs", type=int, default=64, help="runs to measure [64]")
    parser.add_argument("--pairs", type=int, default=2000, help="comparisons at most [2000]")
    parser.add_argument("--resume", action="store_true", help="keep runs that are there")
    parser.add_argument("--kernel", default=str(ROOT / "kernels" / "softmax"), help="the kernel [kernels/softmax]")
    parser.add_argument("--workload", default="short", help="its workload [short]")
    parser.add_argument("--samples", type=int, default=50, help="samples of each run [50]")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target" / "compare", help="folder of runs")
    parser.add_argument("--recorded", type=pathlib.Path, help="folder of Kernel Tuner caches with raw times")
    return parser.parse_args()


def measure(args):
    """Runs in fresh processes, one after another."""
    if not args.resume:
        for old in args.out.glob("run-*.json"):
            old.unlink()
    count = str(args.samples)
    for number in range(args.runs):
        file = args.out / f"run-{number:04}.json"
        if file.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [os.environ["KILN_BIN"], "bench", args.kernel, "--workload", args.workload, "--samples", count,
                       "--max-samples", count, "--save", str(file.resolve()), "--quiet"]
            ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if ended.returncode != 0:
            sys.exit(f"bench_compare: {' '.join(command)} ended with {ended.returncode}: {ended.stderr[-500:]}")
        print(f"\rrun {number + 1} of {args.runs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def side(run):
    return next(side for side in run["workloads"][0]["sides"] if side["name"] == "candidate")


def samples(file):
    return [time for part in side(json.loads(file.read_text()))["rounds"] for time in part]


def shifted(file, shift, folder):
    """The run as if its candidate took so much more time. Several threads may want the same one."""
    path = pathlib.Path(folder) / f"{file.stem}-{shift}.json"
    if path.exists():
        return path
    run = json.loads(file.read_text())
    own = side(run)
    own["rounds"] = [[time * (1 + shift) for time in part] for part in own["rounds"]]
    # The same machine code would need no verdict.
    own["code"] = None
    whole = path.with_suffix(f".{threading.get_ident()}")
    whole.write_text(json.dumps(run))
    whole.replace(path)
    return path


def by_kiln(one, two, rule):
    """`kiln` with the flags that the rule's name has."""
    words = [os.environ["KILN_BIN"], "compare", str(one), str(two), "--json", *rule.split()[1:]]
    told = json.loads(subprocess.run(words, capture_output=True, text=True, cwd=tempfile.gettempdir()).stdout)
    found = told["workloads"][0]
    verdict = {"slower": "slower", "faster": "faster"}.get(found["comparison"]["verdict"], "same")
    return verdict, found["more_samples"]


def by_nvbench(base, head, gap=GAP):
    quarter = lambda times: statistics.quantiles(times, n=4)[2]
    medians = statistics.median(base), statistics.median(head)
    apart = max(min(base), min(head)) > min(quarter(base), quarter(head))
    if abs(medians[1] / medians[0] - 1) < gap or not apart:
        return "same"
    return "slower" if medians[1] > medians[0] else "faster"


def by_t_test(base, head, limit=1.96):
    """Welch's, at 5 % unless told otherwise, with the normal distribution in place of Student's: there are dozens of samples."""
    error = math.sqrt(statistics.variance(base) / len(base) + statistics.variance(head) / len(head))
    difference = statistics.fmean(head) - statistics.fmean(base)
    if error == 0 or abs(difference / error) < limit:
        return "same"
    return "slower" if difference > 0 else "faster"


def allowed(rule, pairs, values):
    """The first of rising thresholds with which a rule finds no more false regressions than are allowed."""
    for value in values:
        if sum(rule(base, head, value) == "slower" for base, head, _ in pairs) <= FALSE * len(pairs):
            return value
    return values[-1]


def table(title, pairs, args):
    """Counts of every rule for every shift."""
    print(f"\n{title}: {len(pairs)} comparisons\n")
    print("| planted | rule | slower | faster | neither |\n|---|---|---|---|---|")
    # With a threshold of its own, and with nvbench's.
    same = f"--regression {100 * GAP:g} --improvement {100 * GAP:g}"
    rules = ["kiln", f"kiln {same}", "kiln --plain"] if pairs and pairs[0][2] else ["kiln --plain", f"kiln --plain {same}"]
    gap = allowed(by_nvbench, pairs, [GAP * 1.1**step for step in range(60)])
    limit = allowed(by_t_test, pairs, [1.96 * 1.1**step for step in range(60)])
    for shift in SHIFTS:
        peers = {
            "nvbench": by_nvbench,
            "t-test": by_t_test,
            f"nvbench with a gap of {100 * gap:.1f} %": lambda base, head: by_nvbench(base, head, gap),
            f"t-test with |t| > {limit:.1f}": lambda base, head: by_t_test(base, head, limit),
        }
        counts = {rule: {"slower": 0, "faster": 0, "same": 0} for rule in [*rules, *peers]}
        needed = []
        with tempfile.TemporaryDirectory() as folder:

            def judge(numbered):
                number, (base, head, files) = numbered
                head = [time * (1 + shift) for time in head]
                if files:
                    one, two = shifted(files[0], 0.0, folder), shifted(files[1], shift, folder)
                else:
                    one, two = pathlib.Path(folder) / f"{number}-a.txt", pathlib.Path(folder) / f"{number}-b.txt"
                    one.write_text("\n".join(map(repr, base)))
                    two.write_text("\n".join(map(repr, head)))
                told = {rule: by_kiln(one, two, rule) for rule in rules}
                verdict, more = told[rules[0]]
                needed.append(len(base) if verdict == "slower" else more or math.inf)
                found = {rule: verdict for rule, (verdict, _) in told.items()}
                return found | {name: rule(base, head) for name, rule in peers.items()}

            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for found in pool.map(judge, enumerate(pairs)):
                    for rule, verdict in found.items():
                        counts[rule][verdict] += 1
        share = lambda count: f"{100 * count / max(1, len(pairs)):.2f} %"
        for rule, seen in counts.items():
            print(f"| {100 * shift:.0f} % | {rule} | {share(seen['slower'])} | {share(seen['faster'])} | {share(seen['same'])} |")
        if shift > 0:
            middle = statistics.median(needed)
            # Where machines differ by more than the shift, samples of these two runs cannot tell.
            count = "no number of them" if math.isinf(middle) else f"{middle:.0f}"
            print(f"| {100 * shift:.0f} % | samples that {rules[0]} needs, by its own estimate (median): {count} | | | |")
    sys.stdout.flush()


def recorded(folder, most):
    """Times of one configuration, cut in two halves taken in turns: neither is slower."""
    pairs = []
    for file in sorted(folder.rglob("*.json*")):
        opened = gzip.open if file.suffix == ".gz" else open
        try:
            with opened(file, "rt") as text:
                rows = json.load(text).get("cache", {})
        except (ValueError, AttributeError, OSError):
            continue
        for row in rows.values():
            times = row.get("times") if isinstance(row, dict) else None
            if isinstance(times, list) and len(times) >= 20 and all(isinstance(t, (int, float)) and t > 0 for t in times):
                # In milliseconds.
                pairs.append(([t / 1e3 for t in times[::2]], [t / 1e3 for t in times[1::2]], None))
    random.Random(1).shuffle(pairs)
    return pairs[:most]


if __name__ == "__main__":
    main()
