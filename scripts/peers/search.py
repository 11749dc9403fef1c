"""Peers' and kiln's strategies on recorded spaces, one table; started by scripts/bench_search.sh, see its --help."""

import argparse
import json
import math
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

# One process is one processor's worth: set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import recordings

BUDGETS = (20, 50, 100, 220)
PEERS = {
    "adaptive_tabu_greywolf": "kernel_tuner",
    "hybrid_vndx": "kernel_tuner",
    "genetic_algorithm": "kernel_tuner",
    "pso": "kernel_tuner",
    "dual_annealing": "kernel_tuner",
    "simulated_annealing": "kernel_tuner",
    "diff_evo": "kernel_tuner",
    "random_sample": "kernel_tuner",
    "optuna_tpe": "optuna",
    "bayes_opt": "kernel_tuner",
}
TARGET_AT_100 = 0.96


def work(task):
    """One repeat, in a process of its own."""
    recording, rules, peer, seed = task
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if PEERS[peer] == "optuna":
        import search_optuna as tool
    else:
        import search_kernel_tuner as tool
    start = time.perf_counter()
    times, error = tool.search(recording, rules, peer, seed, BUDGETS[-1])
    best, shares = None, {}
    for number, taken in enumerate(times, 1):
        best = taken if best is None or (taken is not None and taken < best) else best
        if number in BUDGETS:
            shares[number] = recording.share(best)
    # A strategy that ends early keeps what it has.
    shares = {budget: shares.get(budget, recording.share(best)) for budget in BUDGETS}
    return {
        "file": recording.name,
        "digest": recording.digest,
        "peer": peer,
        "seed": seed,
        "shares": shares,
        "evaluations": len(times),
        "failed": sum(taken is None for taken in times),
        "seconds": round(time.perf_counter() - start, 3),
        "error": error,
    }


def load(path):
    """The repeats that are there, by file, peer and seed; a line cut off by a crash is passed over."""
    done = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                result = json.loads(line)
            except json.JSONDecodeError:
                continue
            done[result["digest"], result["peer"], result["seed"]] = result
    return done


def run_peers(args, spaces, peers, done, results):
    tasks = [
        (recording, rules, peer, seed)
        for peer in peers
        for recording, rules in spaces
        for seed in range(args.repeats)
        if (recording.digest, peer, seed) not in done
    ]
    if not tasks:
        return
    print(f"{len(tasks)} repeats of peers to run, kept in {results}", file=sys.stderr)
    # Loaded before forking, so that a repeat's process starts in milliseconds and still has a space of its own.
    import search_kernel_tuner, search_optuna  # noqa: E401, F401
    import kernel_tuner.strategies.bayes_opt  # noqa: F401

    shown = start = time.monotonic()
    with (
        multiprocessing.get_context("fork").Pool(args.jobs, maxtasksperchild=1) as pool,
        results.open("a") as file,
    ):
        for number, result in enumerate(pool.imap_unordered(work, tasks, chunksize=1), 1):
            done[result["digest"], result["peer"], result["seed"]] = json.loads(json.dumps(result))
            file.write(json.dumps(result) + "\n")
            file.flush()
            if time.monotonic() - shown > 10 or number == len(tasks):
                shown = time.monotonic()
                left = (shown - start) / number * (len(tasks) - number)
                words = f"{number}/{len(tasks)}  {result['peer']} on {result['file']}  about {left / 60:.0f} min left"
                print(words, file=sys.stderr, flush=True)


def run_ours(args, spaces):
    """kiln's own figures: {strategy: {budget: [(mean, se) for each file]}}."""
    files = [str(recording.path) for recording, _ in spaces]
    command = [args.kiln, "simulate", *files, "--budget", str(BUDGETS[-1]), "--repeats", str(args.our_repeats)]
    command += ["--seed", "1", "--json", "--strategy", args.strategies]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"bench_search: {' '.join(command[:2])} ended with {run.returncode}\n{run.stdout}")
    ours = {}
    for entry in json.loads(run.stdout)["runs"]:
        if entry["budget"] in BUDGETS:
            figures = ours.setdefault(entry["strategy"], {}).setdefault(entry["budget"], {})
            figures[entry["file"]] = (entry["mean"], entry["se"])
    for figures in ours.values():
        for budget in BUDGETS:
            figures[budget] = [figures[budget][file] for file in files]
    return ours


def summarize(args, spaces, peers, done):
    """The peers' figures like kiln's; what is not complete yet is told."""
    figures, missing = {}, []
    for peer in peers:
        rows = [
            [done[key] for seed in range(args.repeats) if (key := (recording.digest, peer, seed)) in done]
            for recording, _ in spaces
        ]
        lacking = sum(args.repeats - len(row) for row in rows)
        if lacking:
            missing.append(f"{peer} lacks {lacking} of {args.repeats * len(rows)} repeats")
        if min(map(len, rows)) < 2:
            continue
        figures[peer] = {
            budget: [spread([result["shares"][str(budget)] for result in row]) for row in rows] for budget in BUDGETS
        }
    return figures, missing


def spread(shares):
    return statistics.fmean(shares), statistics.stdev(shares) / math.sqrt(len(shares))


def over_files(pairs):
    """The mean over files, and its standard error from those of the files."""
    return statistics.fmean(p[0] for p in pairs), math.sqrt(sum(p[1] ** 2 for p in pairs)) / len(pairs)


def print_table(spaces, peers, ours, details):
    width = 26
    print(f"\nmean of optimum/best over {len(spaces)} files, with its standard error")
    print(f"{'strategy':{width}}" + "".join(f"{budget:>15}" for budget in BUDGETS))
    rows = [(f"kiln {name}", figures) for name, figures in ours.items()] + list(peers.items())
    rows.sort(key=lambda row: -over_files(row[1][100])[0])
    for name, figures in rows:
        cells = [over_files(figures[budget]) for budget in BUDGETS]
        print(f"{name:{width}}" + "".join(f"{mean:>8.4f} {se:.4f}" for mean, se in cells))
    if details:
        for at, (recording, _) in enumerate(spaces):
            print(f"\n{recording.name}: {len(recording.rows)} configurations, {recording.failed} failed")
            for name, figures in rows:
                cells = [figures[budget][at] for budget in BUDGETS]
                print(f"{name:{width}}" + "".join(f"{mean:>8.4f} {se:.4f}" for mean, se in cells))


def judge(peers, auto):
    """PASS or FAIL for each target; a standard error here is that of the difference."""
    print("\ntargets for auto")
    passed = True
    for budget in BUDGETS:
        mean, se = over_files(auto[budget])
        name, (best, best_se) = max(
            ((name, over_files(figures[budget])) for name, figures in peers.items()), key=lambda p: p[1][0]
        )
        error = math.hypot(se, best_se)
        good = mean >= best - error if budget == 20 else mean > best + error
        words = "within one standard error of" if budget == 20 else "more than one standard error above"
        passed &= good
        verdict = "PASS" if good else "FAIL"
        print(f"{verdict}  at {budget:>3}: {words} {name}: {mean:.4f} - {best:.4f} = {mean - best:+.4f}, error {error:.4f}")
    mean, _ = over_files(auto[100])
    good = mean >= TARGET_AT_100
    print(f"{'PASS' if good else 'FAIL'}  at 100: at least {TARGET_AT_100}: {mean:.4f}")
    return passed and good


def main():
    parser = argparse.ArgumentParser(prog="bench_search.sh")
    parser.add_argument("folder")
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--strategies", default="auto")
    parser.add_argument("--our-repeats", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--details", action="store_true")
    args = parser.parse_args()
    peers = [] if args.peers == "none" else args.peers.split(",")
    for peer in peers:
        if peer not in PEERS:
            parser.error(f"there is no peer {peer}; there are {', '.join(PEERS)}")
    read, copies = recordings.read_folder(args.folder)
    if not read:
        parser.error(f"{args.folder} holds no recorded spaces (.json, .json.gz)")
    for copy, original in copies:
        print(f"{copy} is a copy of {original} and not counted", file=sys.stderr)
    spaces = []
    for recording in read:
        path, rules = recordings.conditions(recording, args.folder)
        told = f"rules of {path.name}" if path else "rows as rules"
        print(f"{recording.name}: {len(recording.rows)} configurations, {recording.failed} failed, {told}", file=sys.stderr)
        spaces.append((recording, rules))

    results = args.work / "peers.jsonl"
    done = load(results)
    if not args.table:
        run_peers(args, spaces, peers, done, results)
    figures, missing = summarize(args, spaces, peers, done)
    ours = run_ours(args, spaces) if args.strategies != "none" else {}
    print_table(spaces, figures, ours, args.details)
    for words in missing:
        print(f"not complete: {words}")
    if "auto" in ours and figures:
        return 0 if judge(figures, ours["auto"]) else 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
