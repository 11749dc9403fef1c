#!/usr/bin/env python3
"""Writes what was measured of the cookbook's recipes: the table of docs/cookbook.md and a section of each recipe's README.md.

    cookbook_table.py [--check]     --check writes nothing, and fails where a file is not what it would write, or a recipe names a cause or a fix that kiln does not know

Figures come from kernels/cookbook/results/*.jsonl, which scripts/gpu_cookbook.py makes (cookbook.jsonl in its folder); of several files that hold a
recipe, the one that comes last by name counts. A recipe without any says so.
"""

import glob
import json
import os
import sys
import tomllib

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BOOK = os.path.join(ROOT, "kernels", "cookbook")


def results():
    """Rows of each recipe, from the last file that has it."""
    found = {}
    for path in sorted(glob.glob(os.path.join(BOOK, "results", "*.jsonl"))):
        rows = {}
        for line in open(path):
            row = json.loads(line)
            rows.setdefault(row["kernel"].removeprefix("cookbook/"), []).append(row)
        found.update(rows)
    return found


def number(value):
    """Three significant digits."""
    return "%.0f" % value if value >= 99.5 else "%.1f" % value if value >= 9.95 else "%.2f" % value


def between(values):
    low, high = number(min(values)), number(max(values))
    return low + "x" if low == high else "%s to %sx" % (low, high)


def promised(row):
    return number(row["promised"]["ratio"]) + "x" if row["promised"] else "nothing"


def section(rows):
    """What was measured of one recipe."""
    steps = [row for row in rows if "measured" in row]
    if not steps:
        return None
    first = steps[0]
    lines = ["| workload | from | to | kiln says before | promised | measured | 95 % interval |", "|---|---|---|---|---|---|---|"]
    for row in steps:
        got = row["measured"]
        said = "`%s`" % row["first"] if row["first"] else "no cause"
        note = " (wrong fix)" if row["wrong"] else ""
        lines.append("| %s | `%s` | `%s`%s | %s | %s | %sx | [%s, %s] |" % (row["workload"], row["before"], row["after"], note, said, promised(row), number(got["ratio"]), number(got["low"]), number(got["high"])))
    for row in rows:
        if "profiled_after" in row:
            says = "`%s` (%sx)" % (row["first"], number(row["expected_speedup"])) if row["first"] else "no cause"
            lines += ["", "After `%s` kiln says on %s: %s." % (row["profiled_after"], row["workload"], says)]
    return "\n".join(["%s, %s; promised is what the profile before says of the fix, or of its cause:" % (first["chip"], first["date"]), "", *lines, "", "```sh", first["command"], "```"])


def unpromised(rows):
    """What the profile before says where it does not name the recipe's cause."""
    first = dict.fromkeys("`%s`" % row["first"] if row["first"] else "no cause" for row in rows)
    return "nothing (kiln says %s)" % " or ".join(first)


def index(recipes, found):
    lines = ["| symptom | recipe | cause | fix | promised | measured |", "|---|---|---|---|---|---|"]
    for name, recipe in recipes:
        step = recipe["steps"][0]
        rows = [row for row in found.get(name, []) if row.get("after") == step["after"] and row.get("before") == step["before"]]
        gain = between([row["measured"]["ratio"] for row in rows]) if rows else "not measured yet"
        claims = [row["promised"]["ratio"] for row in rows if row["promised"]]
        promise = between(claims) if claims else unpromised(rows) if rows else ""
        lines.append("| %s | [%s](../kernels/cookbook/%s/README.md) | `%s` | %s | %s | %s |" % (recipe["symptom"], name, name, recipe["cause"], step["fix"], promise, gain))
    return "\n".join(lines)


def unknown(target, name, recipe):
    """Causes and fixes of a recipe that kiln does not know. Fixes for a processor are in the recipe's own words."""
    page = open(os.path.join(ROOT, "docs", "diagnosis.md" if target == "cuda" else "coarse.md")).read()
    rules = "".join(open(path).read() for path in glob.glob(os.path.join(ROOT, "crates", "kiln-diagnose", "src", "profile", "rules", "*.rs")))
    for step in recipe["steps"]:
        cause = step.get("cause", recipe["cause"])
        if "### `%s`" % cause not in page:
            yield "%s: %s is no cause" % (name, cause)
        if target == "cuda" and '"%s"' % step["fix"] not in rules:
            yield "%s: %s is no fix of a rule" % (name, step["fix"])


def replaced(text, mark, inside):
    start, end = "<!-- %s -->\n" % mark, "<!-- /%s -->" % mark
    head, rest = text.split(start, 1)
    return head + start + inside.rstrip("\n") + "\n" + end + rest.split(end, 1)[1]


def main():
    found, recipes = results(), {"cuda": [], "cpu": []}
    for path in sorted(glob.glob(os.path.join(BOOK, "*", "recipe.toml"))):
        folder = os.path.dirname(path)
        with open(path, "rb") as recipe, open(os.path.join(folder, "kernel.toml"), "rb") as kernel:
            own, target = tomllib.load(recipe), next(iter(tomllib.load(kernel)["target"]))
        recipes[target].append((os.path.basename(folder), own))
    wanted = {}
    page = os.path.join(ROOT, "docs", "cookbook.md")
    text = open(page).read()
    for target, own in recipes.items():
        text = replaced(text, "recipes for " + target, index(own, found))
    wanted[page] = text
    for target, own in recipes.items():
        command = "`scripts/gpu.sh cookbook`" if target == "cuda" else "`scripts/gpu_cookbook.py KILN . OUT --target cpu`"
        for name, _ in own:
            readme = os.path.join(BOOK, name, "README.md")
            missing = "Not measured yet: %s measures it, `scripts/cookbook_table.py` writes the figures here." % command
            wanted[readme] = replaced(open(readme).read(), "measured", section(found.get(name, [])) or missing)
    mistakes = [words for target, own in recipes.items() for name, recipe in own for words in unknown(target, name, recipe)]
    for words in mistakes:
        print(words, file=sys.stderr)
    changed = [path for path, text in wanted.items() if open(path).read() != text]
    for path in changed:
        if "--check" in sys.argv:
            print("%s is not what scripts/cookbook_table.py writes" % os.path.relpath(path, ROOT), file=sys.stderr)
        else:
            open(path, "w").write(wanted[path])
    print("%d recipes, %d with figures, %d files %s" % (sum(map(len, recipes.values())), len([n for own in recipes.values() for n, _ in own if n in found]), len(changed), "differ" if "--check" in sys.argv else "written"))
    return 1 if mistakes or changed and "--check" in sys.argv else 0


sys.exit(main())
