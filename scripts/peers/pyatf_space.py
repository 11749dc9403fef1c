"""Worker: build one space with pyATF, print {"valid", "seconds"} as the last line."""

import ast
import json
import sys
import time

from pyatf import TP, Set
from pyatf.search_space import SearchSpace

import t1

# Two stretches are timed: from the file's text to values and conditions, as kiln's clock does, and the construction.
# Between them conditions are turned into lambdas, in pyATF's favour: a user would have written these.
text = t1.read(sys.argv[1])
start = time.perf_counter()
params, conditions = t1.parse(text)
parsing = time.perf_counter() - start

position = {name: index for index, name in enumerate(params)}

# pyATF takes one constraint per parameter, and it may only look at parameters declared before
# it: so each condition goes to the last of its parameters, joined by `and` with its neighbours.
by_last = {}
for text in conditions:
    nodes = ast.walk(ast.parse(text.strip(), mode="eval"))
    used = {node.id for node in nodes if isinstance(node, ast.Name)} & position.keys()
    if not used:
        sys.exit(f"condition names no parameter: {text}")
    by_last.setdefault(max(used, key=position.get), []).append((text, used))


def constraint(name):
    """The lambda a pyATF user would have written for `name`, or None."""
    parts = by_last.get(name)
    if not parts:
        return None
    arguments = sorted(set().union(*(used for _, used in parts)), key=position.get)
    body = " and ".join(f"({text})" for text, _ in parts)
    return eval(f"lambda {', '.join(arguments)}: {body}")


# Outside the clock, in pyATF's favour: a TP looks up the source text of its lambda (for its log),
# and the cost of that depends on where the lambda was written.
tps = [TP(name, Set(*values), constraint(name)) for name, values in params.items()]

# The call pyATF's Tuner makes before its first evaluation, minus the progress bar.
start = time.perf_counter()
space = SearchSpace(*tps, verbosity=0)
seconds = parsing + time.perf_counter() - start

print(json.dumps({"valid": space.constrained_size, "seconds": seconds}))
