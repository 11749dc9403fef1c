#!/usr/bin/env python3
"""What recording an attempt adds to a command, on a store with 100,000 trials and 20,000 attempts.

    scripts/bench_attempts.py [--kiln target/release/kiln] [--rounds 60]

`kiln gate KERNEL --static` is a command of a few milliseconds that leaves an attempt and nothing else. It runs where nothing can be
recorded, where no session is open, and in open sessions of 10, 100 and 1,000 attempts, in turns, so that a busy machine slows them alike.
Prints medians of the time that passed and of processor time, the difference to the first, and the ratio. At most 5 ms may be added;
what passes on a busy machine is mostly other work.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

TRIALS, ATTEMPTS, STUDIES = 100_000, 20_000, 100
SESSIONS = (10, 100, 1000)
KERNEL = """[kernel]
name = "k"
entry = "k"
[tunables]
A = [1, 2]
[default]
A = 1
[target.cpu]
source = "k.c"
[[workloads]]
name = "only"
dims = { N = 64 }
"""


def run(kiln, folder, words, user="nobody"):
    """Milliseconds that passed, and milliseconds of processor time."""
    environment = {**os.environ, "USER": user}
    begun = time.perf_counter()
    child = subprocess.Popen([kiln, *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"kiln {' '.join(words)}: {said.decode()}")
    return 1e3 * (time.perf_counter() - begun), 1e3 * (used.ru_utime + used.ru_stime)


def columns(base, table):
    return [row[1] for row in base.execute(f"PRAGMA table_info({table})")]


def copies(base, table, row, changes):
    """Rows like one that is there, each with other values in some columns."""
    names = columns(base, table)
    places = ", ".join("?" for _ in names)
    rows = ([change.get(name, value) for name, value in zip(names, row)] for change in changes)
    base.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)


def filled(place):
    """A store as a year of work leaves it: one attempt is there to copy."""
    base = sqlite3.connect(place)
    attempt = base.execute("SELECT * FROM attempts").fetchone()
    now = int(time.time() * 1000)
    study = {"id": "", "started_ms": 0, "state": "finished", "owner": "1@host", "kernel": "softmax", "path": "kernel.toml", "target": "cpu",
             "variant": "", "seed": "1", "strategy": "random", "options": "{}", "environment": "{}", "spec_hash": "", "spec_text": "x" * 3000,
             "kiln_version": "0", "seconds": 1.0, "recorded": TRIALS // STUDIES}
    trial = {"phase": "search", "config": "BLOCK_M=64,BLOCK_N=64,WARPS=4,STAGES=2", "state": "passed", "cost": 1e-6, "artifact": "0123456789abcdef",
             "started_ms": 0, "build_s": 0.1, "check_s": 0.1, "measure_s": 0.1, "wall_s": 0.3, "details": json.dumps({"registers": 64})}
    ids = [str(uuid.uuid4()) for _ in range(STUDIES)]
    studies = columns(base, "studies")
    copies(base, "studies", [None] * len(studies), ({**study, "id": id} for id in ids))
    trials = columns(base, "trials")
    each = TRIALS // STUDIES
    copies(base, "trials", [None] * len(trials), ({**trial, "study": id, "place": n, "number": n} for id in ids for n in range(each)))
    copies(base, "attempts", attempt, ({"id": str(uuid.uuid4()), "at_ms": now - 60_000 * n, "session": None} for n in range(1, ATTEMPTS)))
    for count in SESSIONS:
        session = base.execute("SELECT id FROM sessions WHERE by_user = ?", (f"s{count}",)).fetchone()[0]
        begun = now - 10_000_000
        copies(base, "attempts", attempt, ({"id": str(uuid.uuid4()), "at_ms": begun + 1000 * n, "session": session} for n in range(count)))
    base.commit()
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kiln", default="target/release/kiln")
    parser.add_argument("--rounds", type=int, default=60)
    args = parser.parse_args()
    kiln = str(pathlib.Path(args.kiln).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "k").mkdir()
        (folder / "k/kernel.toml").write_text(KERNEL)
        (folder / "k/k.c").write_text("void k(void) {}\n")
        (folder / "file").write_text("")
        gate = ["gate", "k", "--static"]
        run(kiln, folder, gate)
        if not (folder / ".kiln/kiln.db").exists():
            sys.exit("no attempt was recorded")
        for count in SESSIONS:
            run(kiln, folder, ["session", "start", "k", "--goal", "1.2x"], user=f"s{count}")
        filled(folder / ".kiln/kiln.db")
        # A folder that cannot be made: nothing is recorded there.
        cases = [("nothing recorded", ["--store", "file/none.db", *gate], "nobody"), ("no session", gate, "nobody")]
        cases += [(f"session of {count}", gate, f"s{count}") for count in SESSIONS]
        times = [[] for _ in cases]
        for turn in range(args.rounds + 3):
            for (_, words, user), own in zip(cases, times):
                took = run(kiln, folder, words, user)
                if turn >= 3:
                    own.append(took)
        middle = [[statistics.median(column) for column in zip(*own)] for own in times]
        print(f"{TRIALS} trials, {ATTEMPTS} attempts; {args.rounds} rounds, medians\n")
        print("| | ms | added | ratio | processor ms | added | ratio |\n|---|---|---|---|---|---|---|")
        for (title, _, _), own in zip(cases, middle):
            cells = [f"{one:.2f} | {one - alone:.2f} | {one / alone:.2f}" for one, alone in zip(own, middle[0])]
            print(f"| {title} | {' | '.join(cells)} |")


main()
