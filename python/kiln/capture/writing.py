"""Where captured workloads go: a file of their own for each operation, or a kernel file, as a change that is shown first."""

import itertools
import os

from kiln.capture.functions import BadOperation
from kiln.capture.kernel_file import KernelFile
from kiln.capture.report import count, percent, say
from kiln.capture.values import safe
from kiln.capture.workloads import block, by_arguments, by_axis, unique, workloads

# In the first line of what was captured.
MARK = "captured by kiln."


def write(called, asked, kernel, given):
    if kernel is None:
        for operation in called:
            found = workloads(operation, by_axis)
            path = asked.out
            if len(called) > 1:
                stem, extension = os.path.splitext(path)
                path = "%s.%s%s" % (stem, safe(operation.name), extension)
            whole, taken = sum(workload.seconds for workload in found), set()
            text = "# %s, %s weight: percent of its time.\n" % (operation.name, MARK)
            text += "".join(block(w, unique(w.name(), taken), whole) for w in limited(found, asked.most))
            free = free_path(path)
            with open(free, "w", encoding="utf-8") as file:
                file.write(text)
            say("wrote %s%s" % (free, "" if free == path else "; %s is not from kiln capture, and stays" % path))
        return
    if len(called) > 1:
        raise BadOperation("--into %s: %d operations were called, and a kernel file is for one; name it with --op: %s" % (
            kernel.path, len(called), ", ".join(operation.name for operation in called)))
    # Somebody may have edited it while the program ran.
    kernel = KernelFile(kernel.path)
    found = workloads(called[0], by_arguments(kernel.arguments, given, kernel.dims))
    text, added, weighted = kernel.merged(limited(found, asked.most))
    say(kernel.diff(text).rstrip("\n"))
    if asked.write:
        with open(kernel.path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        say("wrote %s: %s added, %s weighted" % (kernel.path, count(added, "workload"), weighted))
    else:
        say("nothing was written; hint: --write applies this change to %s" % kernel.path)


def free_path(path):
    """Where nothing is lost: there, if an earlier capture wrote what is there, else beside it."""
    stem, extension = os.path.splitext(path)
    paths = itertools.chain([path], ("%s.%d%s" % (stem, number, extension) for number in itertools.count(1)))
    return next(path for path in paths if is_own(path))


def is_own(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return MARK in file.readline()
    except FileNotFoundError:
        return True


def limited(found, most):
    """The workloads that took the most time."""
    whole, rest = sum(workload.seconds for workload in found), found[most:]
    if rest:
        share = sum(workload.seconds for workload in rest) / whole if whole else 0.0
        say("note: %s left out, %s of the time; --most raises the limit" % (count(len(rest), "workload"), percent(share)))
    return found[:most]
