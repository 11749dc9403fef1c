"""The driver of scripts/corpus.sh: runs cases of tests/corpus, judges the judge, keeps results. Standard library only."""

import argparse
import concurrent.futures
import ctypes
import datetime
import fnmatch
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "corpus"
# Five rounds of five samples each.
OPTIONS = ["--samples", "25", "--max-samples", "25"]
# Long, because jobs that share a GPU wait for each other.
LIMIT_S = 600
SHM_KEY = 0x6B636F72
KEYS = {"must", "gates", "why", "long", "ends", "fault", "needs", "options", "processors"}
MINE, FOLDERS = threading.local(), []
# Kiln measures on the last processor it may use: jobs that may use all of them would wait for one another there.
SPREAD = []
# Kilns lock a GPU by a file in /tmp.
APART = False
MUST = ("refused", "not_faster", "accepted")


def main():
    if sys.argv[1:2] == ["--supervise"]:
        supervise(sys.argv[2:])
        return 0
    args = arguments()
    global APART
    APART = args.apart
    if args.spread:
        SPREAD.extend(sorted(os.sched_getaffinity(0)))
    cases, problems = load(args.only, args.must)
    for problem in problems:
        print(f"corpus: {problem}", file=sys.stderr)
    cases, skipped = runnable(cases, args)
    for words, count in sorted(skipped.items()):
        print(f"skipped {count}: {words}", file=sys.stderr)
    load_word = f"busy {args.busy}" if args.busy else "quiet"
    results = Results(args.out, load_word, args.resume)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.busy)]
    began, lock, violations = time.monotonic(), threading.Lock(), []

    def run(case):
        outcome = judge(case)
        with lock:
            results.add(case, outcome)
            if outcome["wrong"]:
                violations.append(case)
                print(f"WRONG {case['id']}: {outcome['wrong']} (must be {case['must']}: {case['why']})", flush=True)
            elif outcome["odd"]:
                print(f"note  {case['id']}: {outcome['odd']}", flush=True)

    # Runs in turn over all cases, so that an interruption leaves them all tried equally often.
    work = [case for turn in range(args.runs) for case in cases if not args.resume or results.runs(case) <= turn]
    pool, interrupted = concurrent.futures.ThreadPoolExecutor(args.jobs), False
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for done in concurrent.futures.as_completed([pool.submit(run, case) for case in work]):
            done.result()
        # One at a time, with nothing else of the corpus beside: what is wrong every time is wrong.
        for _ in range(args.again):
            wrong, violations[:] = list(violations), []
            for case in wrong:
                run(case)
    except KeyboardInterrupt:
        interrupted = True
        # A second one must not cut off the end of the cases that run.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        print("interrupted: --resume continues", file=sys.stderr)
    finally:
        # Cases that have begun come to their end.
        pool.shutdown(cancel_futures=True)
        for process in busy:
            process.kill()
        for folder in FOLDERS:
            folder.cleanup()
        tidy()
        results.write()
    table(cases, results, time.monotonic() - began)
    return 130 if interrupted else 1 if violations or problems else 0


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/corpus.sh", description="Runs tests/corpus; see its README.md.")
    parser.add_argument("--runs", type=int, default=1, help="runs of every case [1]")
    parser.add_argument("--resume", action="store_true", help="continue: cases that have their runs already are left out")
    parser.add_argument("--cpu", action="store_true", help="cases for the processor only")
    parser.add_argument("--gpu", action="store_true", help="cases for the GPU only")
    parser.add_argument("--busy", type=int, default=0, metavar="K", help="keep K loops busy beside [0]")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="cases at a time [1]")
    parser.add_argument("--spread", action="store_true", help="give each job one processor, but for cases that need all")
    parser.add_argument("--apart", action="store_true", help="give each job a /tmp of its own, so that jobs on one GPU do not wait for each other (needs root)")
    parser.add_argument("--again", type=int, default=0, metavar="N", help="run wrong cases N times more: wrong is what stays wrong [0]")
    parser.add_argument("--only", metavar="PATTERN", help="cases whose FOLDER/CASE matches, such as 'world/*'")
    parser.add_argument("--must", choices=MUST, help="cases of which this is expected, such as 'accepted' for the honest ones")
    parser.add_argument("--out", type=pathlib.Path, default=CORPUS / "results", help="folder of results")
    return parser.parse_args()


def load(only, must):
    """All cases, and what is wrong with the corpus itself."""
    cases, problems = [], []
    for path in sorted(CORPUS.glob("*/expected.toml")):
        folder = path.parent
        expected = tomllib.loads(path.read_text())
        spec = tomllib.loads((folder / "kernel.toml").read_text())
        target = expected.get("target", "cpu")
        listed = spec["target"][target]["tunables"]["CASE"]
        if set(listed) != set(expected["cases"]):
            odd = ", ".join(sorted(set(listed) ^ set(expected["cases"])))
            problems.append(f"{folder.name}: in one of kernel.toml and expected.toml only: {odd}")
        for name, case in expected["cases"].items():
            unknown = set(case) - KEYS
            if unknown:
                problems.append(f"{folder.name}/{name}: no such key: {', '.join(sorted(unknown))}")
            if case.get("must") not in MUST or not case.get("why"):
                problems.append(f"{folder.name}/{name}: needs `must` ({', '.join(MUST)}) and `why`")
                continue
            case = {"gates": [], "long": False, "ends": False, "fault": False, "options": [], **case}
            case |= {"id": f"{folder.name}/{name}", "folder": folder, "name": name, "target": target}
            case |= {"machine": expected.get("machine", "cpu"), "needs": case.get("needs", expected.get("needs", []))}
            case["options"] = expected.get("options", []) + case["options"]
            case["processors"] = case.get("processors", expected.get("processors", "one"))
            if (not only or fnmatch.fnmatch(case["id"], only) or only in case["id"]) and must in (None, case["must"]):
                cases.append(case)
    # Long ones first: another job does the rest meanwhile.
    return sorted(cases, key=lambda case: not case["long"]), problems


def runnable(cases, args):
    """Those that can be run here, and why others cannot."""
    skipped, kept, able = {}, [], {}

    def can(what):
        if what not in able:
            if what == "gpu":
                able[what] = has_gpu()
            else:
                able[what] = subprocess.run([os.environ["KILN_PYTHON"], "-c", f"import {what}"], capture_output=True).returncode == 0
        return able[what]

    for case in cases:
        words = None
        if (args.cpu and not args.gpu and case["machine"] != "cpu") or (args.gpu and not args.cpu and case["machine"] != "gpu"):
            continue
        if case["machine"] == "gpu" and not can("gpu"):
            words = "kiln doctor finds no GPU"
        else:
            missing = [package for package in case["needs"] if not can(package)]
            if missing:
                words = f"$KILN_PYTHON has no {missing[0]}"
        if words:
            skipped[words] = skipped.get(words, 0) + 1
        else:
            kept.append(case)
    return kept, skipped


def has_gpu():
    found = subprocess.run([os.environ["KILN_BIN"], "doctor", "--json"], capture_output=True, text=True, cwd=tempfile.gettempdir())
    try:
        return any(finding["id"] == "gpu_state" for finding in json.loads(found.stdout)["findings"])
    except (ValueError, KeyError):
        return False


def judge(case):
    """Runs a case once. Out: whether it was refused, at which gate, the verdicts, and what is wrong with that, if anything."""
    outcome = {"refused": False, "gate": "", "verdicts": [], "wrong": "", "odd": ""}
    verbs = ["bench"] if case["must"] == "not_faster" else ["bench", "check"]
    for verb in verbs:
        found = run_kiln(case, verb)
        if found["left"] and case["ends"]:
            outcome["wrong"] = f"{found['left']} processes outlived kiln {verb}"
        refusal = refusal_of(found["answer"])
        if refusal:
            outcome |= {"refused": True, "gate": refusal.get("gate", "?")}
            outcome["said"] = f"{refusal.get('gate')}: {refusal.get('measured', '')}"[:200]
            break
        if found["code"] != 0:
            if not case["fault"]:
                outcome["wrong"] = f"kiln {verb} ended with {found['code']}: {found['words']}"
            outcome["gate"] = "fault"
            break
        if verb == "bench":
            outcome["verdicts"] = verdicts_of(found["answer"])
    tidy(case["folder"])
    if outcome["wrong"]:
        return outcome
    if outcome["refused"]:
        if case["must"] == "accepted":
            outcome["wrong"] = f"honest, and refused by {outcome['said']}"
        elif case["gates"] and outcome["gate"] not in case["gates"]:
            outcome["odd"] = f"refused by {outcome['said']}, not by {', '.join(case['gates'])}"
    elif case["must"] == "refused" and outcome["gate"] != "fault":
        outcome["wrong"] = f"acquitted: {words_of(outcome)}"
    elif case["must"] == "not_faster" and any(verdict == "faster" for verdict, _ in outcome["verdicts"]):
        outcome["wrong"] = f"a false gain: {words_of(outcome)}"
    return outcome


def words_of(outcome):
    return ", ".join(f"{verdict} {speedup:.2f}x" for verdict, speedup in outcome["verdicts"]) or "no verdict"


def refusal_of(answer):
    return answer.get("refused") or answer.get("refusal") if isinstance(answer, dict) else None


def verdicts_of(answer):
    rows = [row for workload in answer.get("workloads", []) for row in workload.get("baselines", [])]
    return [(row.get("verdict"), row.get("speedup") or 0.0) for row in rows]


def run_kiln(case, verb):
    """Runs kiln below a process that sees what outlives it."""
    options = case["options"] + OPTIONS if verb == "bench" else ["--full"]
    command = [os.environ["KILN_BIN"], verb, str(case["folder"]), "--target", case["target"], "--config", f"CASE={case['name']}"]
    work = working_folder()
    told = pathlib.Path(work) / "told.json"
    environment = dict(os.environ, HOME=f"{work}/home") if case["machine"] == "cpu" else dict(os.environ)
    command = [*own_tmp(work), *command, "--json", *options]
    everything = [sys.executable, __file__, "--supervise", str(told), work, processor(case), *command]
    # In a session of its own: Ctrl-C at the terminal must not reach it.
    subprocess.run(everything, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    return json.loads(told.read_text())


def processor(case):
    """The one of this job; an empty word where a case may have them all."""
    if not SPREAD or case["processors"] == "all" or "--threads" in case["options"]:
        return ""
    return str(SPREAD[FOLDERS.index(MINE.work) % len(SPREAD)])


def own_tmp(work):
    if not APART:
        return []
    own = pathlib.Path(work) / "tmp"
    own.mkdir(exist_ok=True)
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /tmp && exec "$@"', str(own)]


def working_folder():
    """One for each job, with a home folder in it; what is built there is used again."""
    if not hasattr(MINE, "work"):
        MINE.work = tempfile.TemporaryDirectory(prefix="kiln_corpus_run_", dir="/var/tmp" if APART else None)
        (pathlib.Path(MINE.work.name) / "home").mkdir()
        FOLDERS.append(MINE.work)
    return MINE.work.name


def supervise(words):
    """Below this process everything gathers that loses its parent: PR_SET_CHILD_SUBREAPER."""
    told, work, own, *command = words
    if own:
        os.sched_setaffinity(0, {int(own)})
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    with open(f"{work}/out", "w+b") as out, open(f"{work}/err", "w+b") as err:
        kiln = subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            code = kiln.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(kiln.pid, signal.SIGKILL)
            code = f"no end within {LIMIT_S} s"
            kiln.wait()
        # What was killed just now may take a moment to go.
        for _ in range(10):
            left = children()
            if not left:
                break
            time.sleep(0.03)
        count = len(left)
        while left:
            for child in left:
                try:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                except (ProcessLookupError, ChildProcessError):
                    pass
            left = children()
        out.seek(0), err.seek(0)
        text, words = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {}
    errors = answer.get("errors") if isinstance(answer, dict) else None
    said = errors[0].get("message", "") if errors else " ".join(words.split())[-300:]
    pathlib.Path(told).write_text(json.dumps({"code": code, "answer": answer, "words": said, "left": count}))


def children():
    """Processes right below this one; those that have ended are waited for."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return []
    return [int(child) for child in pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]


def tidy(*folders):
    """Removes what cases leave on purpose."""
    homes = [pathlib.Path(work.name) / place for work in FOLDERS for place in ("", "home", "tmp")]
    for folder in (pathlib.Path("/tmp"), pathlib.Path("/dev/shm"), pathlib.Path.home(), *homes, *folders):
        for path in folder.glob("kiln_corpus_*"):
            if path.is_file():
                path.unlink(missing_ok=True)
    libc = ctypes.CDLL(None)
    found = libc.shmget(SHM_KEY, 0, 0)
    if found >= 0:
        libc.shmctl(found, 0, None)


class Results:
    """Counts of every case in a Markdown table, one file for each kind of machine and load; read back to go on."""

    HEAD = "| case | must | runs | caught | accepted | wrong | gates and verdicts seen |"

    def __init__(self, folder, load_word, resume):
        self.folder, self.load_word = folder, load_word
        self.rows, self.began, self.written = {"cpu": {}, "gpu": {}}, {}, 0.0
        folder.mkdir(parents=True, exist_ok=True)
        for machine in self.rows:
            path = self.path(machine)
            if resume and path.exists():
                self.read(machine, path.read_text())

    def path(self, machine):
        return self.folder / f"{machine}-{self.load_word.replace(' ', '-')}.md"

    def read(self, machine, text):
        for line in text.splitlines():
            if line.startswith("First run: "):
                self.began[machine] = line.removeprefix("First run: ").rstrip(".")
            parts = [part.strip() for part in line.strip("|").split("|")]
            if len(parts) == 7 and parts[2].isdigit():
                runs, caught, accepted, wrong = map(int, parts[2:6])
                seen = dict((word.rsplit(" ", 1)[0], int(word.rsplit(" ", 1)[1])) for word in parts[6].split(", ") if word)
                self.rows[machine][parts[0]] = {"must": parts[1], "runs": runs, "caught": caught, "accepted": accepted, "wrong": wrong, "seen": seen}

    def runs(self, case):
        return self.rows[case["machine"]].get(case["id"], {}).get("runs", 0)

    def add(self, case, outcome):
        empty = {"must": case["must"], "runs": 0, "caught": 0, "accepted": 0, "wrong": 0, "seen": {}}
        row = self.rows[case["machine"]].setdefault(case["id"], empty)
        row["runs"] += 1
        row["caught" if outcome["refused"] else "accepted"] += 1
        row["wrong"] += bool(outcome["wrong"])
        for word in [outcome["gate"]] if outcome["gate"] else [verdict for verdict, _ in outcome["verdicts"]] or ["none"]:
            row["seen"][word] = row["seen"].get(word, 0) + 1
        if time.monotonic() - self.written > 5:
            self.write()

    def write(self):
        self.written = time.monotonic()
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        for machine, rows in self.rows.items():
            if not rows:
                continue
            commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
            version = subprocess.run([os.environ["KILN_BIN"], "--version"], capture_output=True, text=True).stdout.strip()
            total = {key: sum(row[key] for row in rows.values()) for key in ("runs", "caught", "accepted", "wrong")}
            lines = [
                f"# Corpus on a {machine.upper()}, {self.load_word}", "",
                f"First run: {self.began.setdefault(machine, now)}.", f"Last run: {now}.",
                f"Command: `scripts/corpus.sh {typed()}`, {version}, corpus of commit {commit or '?'}.", "",
                f"{len(rows)} cases, {total['runs']} runs: {total['caught']} caught, {total['accepted']} accepted, {total['wrong']} wrong.", "",
                self.HEAD, "|---|---|---|---|---|---|---|",
            ]
            for case, row in sorted(rows.items()):
                seen = ", ".join(f"{word} {count}" for word, count in sorted(row["seen"].items()))
                lines.append(f"| {case} | {row['must']} | {row['runs']} | {row['caught']} | {row['accepted']} | {row['wrong']} | {seen} |")
            path = self.path(machine)
            path.with_suffix(".new").write_text("\n".join(lines) + "\n")
            path.with_suffix(".new").replace(path)


def typed():
    """The command line, without the folder of results."""
    words, out = [], False
    for word in sys.argv[1:]:
        if not out and word != "--out":
            words.append(word)
        out = word == "--out"
    return " ".join(words)


def table(cases, results, seconds):
    """A line for each folder."""
    print(f"\n{'folder':<22}{'machine':<9}{'cases':>6}{'runs':>7}{'caught':>8}{'accepted':>10}{'wrong':>7}")
    total, folders = [0] * 5, {}
    for case in cases:
        folders.setdefault((case["folder"].name, case["machine"]), []).append(case)
    for (folder, machine), members in sorted(folders.items()):
        rows = [results.rows[machine][case["id"]] for case in members if case["id"] in results.rows[machine]]
        numbers = [len(rows)] + [sum(row[key] for row in rows) for key in ("runs", "caught", "accepted", "wrong")]
        total = [a + b for a, b in zip(total, numbers)]
        print(f"{folder:<22}{machine:<9}{numbers[0]:>6}{numbers[1]:>7}{numbers[2]:>8}{numbers[3]:>10}{numbers[4]:>7}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    last = f"{seconds:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time"
    print(f"{'all':<31}{total[0]:>6}{total[1]:>7}{total[2]:>8}{total[3]:>10}{total[4]:>7}   {last}")


if __name__ == "__main__":
    sys.exit(main())
