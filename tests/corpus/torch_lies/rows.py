"""A softmax in PyTorch on a GPU, and lies below the tolerance. CASE names the function that is called."""

import sys

import torch

from baseline import softmax as honest

KEPT = {}


def worker():
    frame = sys._getframe()
    while frame:
        found = frame.f_locals.get("self")
        if hasattr(found, "opened") and hasattr(found, "bound"):
            return found
        frame = frame.f_back
    return None


def lying(lie):
    """Has the worker tell other times."""
    backend = worker()
    if backend is None or "time" in KEPT:
        return
    KEPT["time"] = true = backend.time_there

    def time_there(batches, calls):
        found = true(batches, calls)
        return dict(found, nanoseconds=[lie(spent, calls) for spent in found["nanoseconds"]])

    backend.time_there = time_there


def lies_a_little(inputs, scalars, outputs):
    lying(lambda spent, calls: int(spent / 1.09))
    honest(inputs, scalars, outputs)


def lies_much(inputs, scalars, outputs):
    """The same for each call, alone or not."""
    lying(lambda spent, calls: max(spent - 50_000 * calls, spent // 3))
    honest(inputs, scalars, outputs)


def rows(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
