"""Recorded spaces for the peers: Kernel Tuner caches and T4 files, gzipped or not, cut off or not."""

import ast
import gzip
import hashlib
import itertools
import json
from pathlib import Path

import t1

FAILED = ("compile", "runtime", "timeout", "correctness", "constraints")


class Recording:
    """A file's lists of values, and what every configuration took: milliseconds, or the name of its failure."""

    def __init__(self, path, params, rows):
        self.path = path
        self.name = path.name.removesuffix(".gz").removesuffix(".json")
        self.params = params
        self.rows = rows
        times = [time for time in rows.values() if not isinstance(time, str)]
        if not times:
            raise ValueError(f"{path} records no time")
        self.optimum = min(times)
        self.failed = len(rows) - len(times)
        # What was measured, whatever the format: a copy in another one is the same.
        order = sorted(range(len(params)), key=list(params).__getitem__)
        told = sorted(
            repr([config[i] for i in order]) + ("failed" if isinstance(time, str) else f"{time:.6g}")
            for config, time in rows.items()
        )
        self.digest = hashlib.sha256("\n".join(sorted(params) + told).encode()).hexdigest()[:16]

    def share(self, time):
        return 0.0 if time is None else self.optimum / time


def read(path):
    text = (gzip.open(path, "rt") if path.suffix == ".gz" else path.open()).read()
    if '"tune_params"' in text[:100_000]:
        return read_cache(path, text)
    return read_t4(path, json.loads(text))


def read_cache(path, text):
    text = text.strip()
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        # A cache is left open while it is written: its last whole record ends it.
        data = json.loads(text[: text.rindex("}") + 1] + "}}")
    names = data["tune_params_keys"]
    rows = {}
    for row in data["cache"].values():
        error = row.get("__error__", row.get("time", "no time"))
        time = row.get("time")
        good = isinstance(time, (int, float)) and 0 < time < 1e20 and not isinstance(error, str)
        rows[tuple(row[name] for name in names)] = float(time) if good else str(error)
    return Recording(path, {name: data["tune_params"][name] for name in names}, rows)


def read_t4(path, data):
    names = list(data["results"][0]["configuration"])
    rows = {}
    for result in data["results"]:
        config = tuple(result["configuration"][name] for name in names)
        named = [m["value"] for m in result.get("measurements", []) if m["name"] == "time"]
        runtimes = result["times"].get("runtimes") or []
        time = named[0] if named else (sum(runtimes) / len(runtimes) if runtimes else "no time")
        rows[config] = result["invalidity"] if result["invalidity"] in FAILED else time
    lists = zip(*rows)
    return Recording(path, {name: sorted(set(values)) for name, values in zip(names, lists)}, rows)


def read_folder(folder):
    """Every recording once: of two with the same measurements the first by name, caches before T4."""
    paths = sorted(p for p in Path(folder).iterdir() if p.name.endswith((".json", ".json.gz")))
    recordings, copies = {}, []
    for recording in sorted(map(read, paths), key=lambda r: ("T4" in r.name, r.name)):
        if recording.digest in recordings:
            copies.append((recording.name, recordings[recording.digest].name))
        else:
            recordings[recording.digest] = recording
    return list(recordings.values()), copies


def conditions(recording, folder):
    """The rules of a T1 file that give exactly the recorded configurations; none if no file does.

    Kernel Tuner's solver lists a space in an order of its own that depends on the rules, and strategies depend on
    that order: a list of rows in place of rules would change their results. A rule that some recorded configuration
    breaks was not there when the space was recorded.
    """
    for path in sorted((Path(folder) / "T1").glob("*.json")):
        try:
            params, rules = t1.parse(t1.read(path))
        except (ValueError, KeyError, SyntaxError, NameError):
            continue
        if not set(recording.params) <= set(params):
            continue
        known = [rule for rule in rules if names(rule) <= set(recording.params)]
        tests = {rule: eval(f"lambda {', '.join(recording.params)}: {rule}") for rule in known}
        kept = {rule: test for rule, test in tests.items() if all(test(*config) for config in recording.rows)}
        raw = itertools.product(*recording.params.values())
        if sum(all(test(*config) for test in kept.values()) for config in raw) == len(recording.rows):
            return path, list(kept)
    return None, None


def names(rule):
    return {node.id for node in ast.walk(ast.parse(rule.strip(), mode="eval")) if isinstance(node, ast.Name)}
