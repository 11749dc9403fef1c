"""Times kiln against Kernel Tuner and pyATF at building search spaces; see --help.

Linux only: it reads peak memory from wait4 and relies on the subreaper flag (see `measure`).
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import t1

ROOT = Path(__file__).resolve().parent.parent
SPACES = ROOT / "fixtures" / "spaces"
PEERS = ROOT / "scripts" / "peers"
VENV = ROOT / "target" / "bench-venv"

# python-constraint2 is the solver that does Kernel Tuner's work, and Kernel Tuner asks only for
# ">=2.5.0": without a pin the same benchmark would time another solver next month.
PINS = ["kernel_tuner==1.5.0", "python-constraint2==2.9.0", "pyatf==0.0.13"]

# Valid configurations of the spaces in fixtures/spaces, in the order of the table.
EXPECTED = {
    "dedispersion": 11_130,
    "expdist": 294_000,
    "hotspot": 349_853,
    "gemm": 116_928,
    "microhh": 138_600,
    "atf_prl_2x2": 1_200,
    "atf_prl_4x4": 10_800,
    "atf_prl_8x8": 48_720,
}

TOOLS = {"kiln": "kiln", "kt": "Kernel Tuner", "pyatf": "pyATF"}
LIMIT_S = 120  # a tool that takes longer for one space is stopped
PROCESS_RUNS = 20  # runs of kiln for "process start to printed count"

HELP = """\
Builds every search space with kiln, Kernel Tuner and pyATF, each time in a fresh process and
the tools in turn, checks that all find the same number of valid configurations, and prints one
table and the targets.

What is timed:
  construct   from the file's text to the whole valid space, by the tool's own clock: no process start,
              no imports
  process     spawn to exit with the output read; kiln's is the median of 20 further runs
  peak        the most resident memory any repeat took (MB of 10^6 bytes)

The first run makes target/bench-venv and installs the peers into it (needs a package index).
kiln is built with `cargo build --release`, unless KILN_BIN names a binary to use instead."""

EPILOG = """\
exit status:
  0  every count is right, whatever the timings say
  1  a tool found a wrong number of valid configurations
  2  the benchmark could not run

examples:
  scripts/bench_space.sh
  scripts/bench_space.sh --repeats 1 fixtures/spaces/gemm.json
  KILN_BIN=./kiln scripts/bench_space.sh --json samples.json"""


def progress(text):
    print(f"bench_space: {text}", file=sys.stderr, flush=True)


def die(text):
    progress(f"error: {text}")
    sys.exit(2)


def tail(text, lines=12):
    return "\n".join(text.strip().splitlines()[-lines:]) or "(no output)"


# ---------------------------------------------------------------- setup


def make_venv():
    """Install the peers once; the marker holds the pins, so changing one installs afresh."""
    marker = VENV / ".bench-complete"
    wanted = "\n".join([platform.python_version(), *PINS])
    if marker.is_file() and marker.read_text() == wanted:
        return
    progress(f"making {VENV.relative_to(ROOT)} with {', '.join(PINS)} (about a minute) ...")
    steps = [
        ("python3 -m venv", [sys.executable, "-m", "venv", "--clear", str(VENV)]),
        ("pip install", [str(VENV / "bin/python"), "-m", "pip", "install", "--quiet",
                         "--disable-pip-version-check", *PINS]),
    ]
    for name, command in steps:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            die(f"`{name}` failed. Installing the peers needs the venv module and the network, or "
                f"a local index (PIP_INDEX_URL, PIP_FIND_LINKS). It said:\n{tail(done.stdout)}")
    marker.write_text(wanted)


def find_kiln():
    """The kiln to time: KILN_BIN, or a fresh release build."""
    given = os.environ.get("KILN_BIN")
    if given:
        found = shutil.which(given)
        if not found:
            die(f"KILN_BIN={given} is not an executable file")
        return os.path.abspath(found)
    if not shutil.which("cargo"):
        die("cargo is not on PATH: install Rust, or set KILN_BIN to a kiln binary")
    progress("cargo build --release ...")
    # cargo's stdout would mix with the table's.
    if subprocess.run(["cargo", "build", "--release"], cwd=ROOT, stdout=sys.stderr).returncode != 0:
        die("`cargo build --release` failed (see above)")
    kiln = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "kiln"
    if not kiln.is_file():
        die("`cargo build --release` succeeded but left no release/kiln in the target folder")
    return str(kiln)


# ---------------------------------------------------------------- measuring


def become_subreaper():
    """Let `measure` wait for grandchildren whose parent has gone."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        die("prctl(PR_SET_CHILD_SUBREAPER) failed: this benchmark needs Linux")


def measure(command):
    """Run `command`; return its wall time, peak memory, output, errors and exit status.

    On exec, Linux carries the peak of the memory image being replaced over into ru_maxrss. A
    child of this process, forked, vforked or spawned, therefore never reports less than Python's
    own size (14 MB even for /bin/true). So a small shell starts the command in the background and
    leaves at once; the command becomes our child (we are its subreaper) with a floor of the
    shell's 1-2 MB. The shell's own stderr carries the pid.
    """
    with tempfile.NamedTemporaryFile() as errors:
        start = time.perf_counter()
        # A session of its own, so that killpg reaches the command and nothing else.
        shell = subprocess.Popen(
            ["/bin/sh", "-c", '"$@" 2>"$0" & echo $! >&2', errors.name, *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        timed_out = False
        try:
            output, pid = shell.communicate(timeout=LIMIT_S)
        except BaseException as problem:  # also Ctrl-C: leave nothing running
            os.killpg(shell.pid, signal.SIGKILL)
            if not isinstance(problem, subprocess.TimeoutExpired):
                raise
            timed_out = True
            output, pid = shell.communicate()
        _, status, usage = os.wait4(int(pid), 0)
        wall = time.perf_counter() - start
        return {
            "timed_out": timed_out,
            "wall_s": wall,
            "peak_mb": usage.ru_maxrss * 1024 / 1e6,
            "status": os.waitstatus_to_exitcode(status),
            "stdout": output.decode(errors="replace"),
            "stderr": errors.read().decode(errors="replace"),
        }


def read_answer(tool, text):
    """The {"valid", "seconds"} a tool printed, or an explanation and exit 2."""
    # A peer's library may print of its own; kiln promises one JSON object and nothing else.
    answer = text if tool == "kiln" else tail(text, 1)
    asked = "`kiln space FILE --json`" if tool == "kiln" else f"the {TOOLS[tool]} worker"
    try:
        answer = json.loads(answer)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        die(f"{asked} must print one JSON object, it printed:\n{tail(text)}")
    for field, kinds in (("valid", int), ("seconds", (int, float))):
        if not isinstance(answer.get(field), kinds) or isinstance(answer[field], bool):
            die(f'{asked} printed no number "{field}":\n{tail(text)}')
    if not 0 < answer["seconds"] < math.inf:
        # A clock that reads nothing would pass every target.
        die(f'{asked} must print "seconds" above 0:\n{tail(text)}')
    return {"valid": answer["valid"], "seconds": answer["seconds"]}


def sample(tool, command):
    """One measured run: a dict ready for --json."""
    run = measure(command)
    if run["timed_out"]:
        if tool == "kiln":
            die(f"kiln took over {LIMIT_S} s: {' '.join(command[1:])}")
        return {"timed_out": True, "wall_s": run["wall_s"], "peak_mb": run["peak_mb"]}
    if run["status"] != 0:
        die(f"{TOOLS[tool]} failed with status {run['status']}:\n"
            f"{tail(run['stderr'] or run['stdout'])}")
    return {**read_answer(tool, run["stdout"]), "wall_s": run["wall_s"], "peak_mb": run["peak_mb"]}


def time_process(command):
    """Seconds from spawn to exit with the output read. No shell in between, unlike `measure`:
    its millisecond would count here."""
    start = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        die(f"kiln failed with status {done.returncode}: {' '.join(command[1:])}")
    return seconds, read_answer("kiln", done.stdout.decode(errors="replace"))["valid"]


def bench(path, kiln, repeats):
    """All samples of one space, and what is wrong with their counts."""
    name = path.stem
    try:
        params, _ = t1.parse(t1.read(path))
    except Exception as problem:  # bad JSON, missing keys, a Values expression that fails
        die(f"{path}: not a T1 space: {type(problem).__name__}: {problem}")
    python = str(VENV / "bin/python")
    commands = {
        "kiln": [kiln, "space", str(path), "--json"],
        "kt": [python, str(PEERS / "kernel_tuner_space.py"), str(path)],
        "pyatf": [python, str(PEERS / "pyatf_space.py"), str(path)],
    }
    samples = {tool: [] for tool in TOOLS}
    for repeat in range(repeats):
        for tool, command in commands.items():
            # One run over the limit says it all; four more would say it for eight minutes.
            if any("timed_out" in done for done in samples[tool]):
                continue
            samples[tool].append(sample(tool, command))
        progress(f"{name} {repeat + 1}/{repeats}: construct ms: " + ", ".join(
            f"{TOOLS[tool]} {ms_cell(construct_ms(samples[tool][-1:]))}" for tool in TOOLS))

    process_s = []
    counts = {tool: {done["valid"] for done in samples[tool] if "valid" in done} for tool in TOOLS}
    for _ in range(PROCESS_RUNS):
        seconds, valid = time_process(commands["kiln"])
        process_s.append(seconds)
        counts["kiln"].add(valid)

    # The known count holds for the repository's own files; a file of the user's may share a name.
    expected = EXPECTED.get(name) if path.resolve().parent == SPACES else None
    found = set().union(*counts.values())
    errors = []
    if (expected is not None and found != {expected}) or len(found) > 1:
        told = ", ".join(f"{TOOLS[tool]} {'/'.join(map(str, sorted(counts[tool]))) or 'none'}"
                         for tool in TOOLS)
        errors.append(f"{name}: wrong count: {told}; expected {expected or 'all alike'}")
        progress(f"error: {errors[0]}")
    return {
        "space": name,
        "raw": math.prod(map(len, params.values())),
        "valid": expected if expected is not None else min(found),
        "samples": samples,
        "kiln_process_s": process_s,
        "errors": errors,
    }


# ---------------------------------------------------------------- reporting


class Over(float):
    """A lower bound, from a run that was stopped."""


def construct_ms(samples):
    if any("timed_out" in done for done in samples):
        return Over(LIMIT_S * 1e3)
    return statistics.median(done["seconds"] for done in samples) * 1e3


def wall_ms(samples):
    if any("timed_out" in done for done in samples):
        return Over(LIMIT_S * 1e3)
    return statistics.median(done["wall_s"] for done in samples) * 1e3


def ratio(theirs, ours):
    return Over(theirs / ours) if isinstance(theirs, Over) else theirs / ours


def ms_cell(value):
    return f">{LIMIT_S} s" if isinstance(value, Over) else cell(value)


def cell(value):
    """A number with about three digits, marked when it is only a lower bound."""
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return (">" if isinstance(value, Over) else "") + f"{value:,.{digits}f}"


def summarise(result):
    samples = result["samples"]
    ms = {tool: construct_ms(samples[tool]) for tool in TOOLS}
    return {
        "space": result["space"],
        "raw": result["raw"],
        "valid": result["valid"],
        "ms": ms,
        "kt_ratio": ratio(ms["kt"], ms["kiln"]),
        "pyatf_ratio": ratio(ms["pyatf"], ms["kiln"]),
        "process": {
            "kiln": statistics.median(result["kiln_process_s"]) * 1e3,
            "kt": wall_ms(samples["kt"]),
            "pyatf": wall_ms(samples["pyatf"]),
        },
        "peak": {tool: max(done["peak_mb"] for done in samples[tool]) for tool in TOOLS},
    }


def print_table(rows):
    groups = ["", "", "", "construct ms", "", "", "ratio", "", "process ms", "", "",
              "peak MB", "", ""]
    heads = ["space", "raw", "valid", "kiln", "KT", "pyATF", "KT", "pyATF",
             "kiln", "KT", "pyATF", "kiln", "KT", "pyATF"]
    lines = [[row["space"], f"{row['raw']:,}", f"{row['valid']:,}",
              *map(ms_cell, row["ms"].values()),
              cell(row["kt_ratio"]) + "x", cell(row["pyatf_ratio"]) + "x",
              *map(ms_cell, row["process"].values()), *map(cell, row["peak"].values())]
             for row in rows]
    widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
    # A group's title starts where its first column does and may run over the next ones.
    title, at = "", 0
    for group, width in zip(groups, widths):
        if group:
            title = title.ljust(at) + group
        at += width + 2
    print(title)
    for line in [heads, *lines]:
        print("  ".join([line[0].ljust(widths[0]),
                         *(text.rjust(width) for text, width in zip(line[1:], widths[1:]))]))


def judge(rows):
    """(target, passed, the space it is worst on, the value there)."""
    def target(text, value, passes, worst, unit):
        row = worst(rows, key=value)
        return {"target": text, "pass": passes(value(row)), "worst_space": row["space"],
                "worst": f"{cell(value(row))}{unit}"}

    return [
        target("construction >= 50x faster than Kernel Tuner on every space",
               lambda row: row["kt_ratio"], lambda value: value >= 50, min, "x"),
        target("never slower than pyATF",
               lambda row: row["pyatf_ratio"], lambda value: value >= 1, min, "x"),
        target(f"process start to printed count under 50 ms (median of {PROCESS_RUNS})",
               lambda row: row["process"]["kiln"], lambda value: value < 50, max, " ms"),
        target("peak memory under 30 MB",
               lambda row: row["peak"]["kiln"], lambda value: value < 30, max, " MB"),
    ]


def parse_args():
    parser = argparse.ArgumentParser(prog="bench_space.sh", description=HELP, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spaces", nargs="*", type=Path, metavar="SPACE.json",
                        help="T1 files (default: the eight in fixtures/spaces)")
    parser.add_argument("--repeats", type=int, default=5, metavar="N",
                        help="runs of each tool on each space (default: 5)")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="also write every raw sample to FILE")
    args = parser.parse_args()
    args.spaces = args.spaces or [SPACES / f"{name}.json" for name in EXPECTED]
    # Whatever can be wrong with the arguments should be said before minutes of work.
    if args.repeats < 1:
        parser.error("--repeats must be at least 1")
    for path in args.spaces:
        if not path.is_file():
            parser.error(f"no such file: {path}")
    if args.json and not args.json.absolute().parent.is_dir():
        parser.error(f"no such folder: {args.json.parent}")
    return args


def main():
    args = parse_args()
    make_venv()
    kiln = find_kiln()
    become_subreaper()
    floor = measure(["/bin/true"])["peak_mb"]
    load = os.getloadavg()[0]
    progress(f"memory floor {floor:.1f} MB; load average {load:.1f} on {os.cpu_count()} cores")
    if floor > 5:
        progress("warning: the memory floor is high: small peaks are overstated")

    results = [bench(path, kiln, args.repeats) for path in args.spaces]
    rows = [summarise(result) for result in results]
    targets = judge(rows)
    print_table(rows)
    print()
    for line in targets:
        print(f"{'PASS' if line['pass'] else 'FAIL'}  {line['target']}"
              f" (worst: {line['worst_space']}, {line['worst']})")

    errors = [error for result in results for error in result["errors"]]
    # On stdout too: whoever keeps only the table must see that it does not count.
    for error in errors:
        print(f"ERROR {error}")
    if args.json:
        record = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": {"system": platform.platform(), "cores": os.cpu_count(),
                        "load_average_at_start": load},
            "python": platform.python_version(), "peers": PINS, "repeats": args.repeats,
            "limit_s": LIMIT_S, "memory_floor_mb": floor,
            "spaces": results, "targets": targets, "errors": errors,
        }
        try:
            args.json.write_text(json.dumps(record, indent=1) + "\n")
        except OSError as problem:
            die(f"cannot write {args.json}: {problem.strerror}")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        progress("interrupted")
        sys.exit(130)
