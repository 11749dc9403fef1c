"""Where captured workloads go: a file of their own for each operation, or a kernel file, as a change that is shown first."""

import os

from kiln.capture.functions import BadOperation
from kiln.capture.report import count, percent, say
from kiln.capture.values import safe
from kiln.capture.workloads import block, by_arguments, by_axis, unique, workloads


def write(called, asked, kernel, given):
    if kernel is None:
        for operation in called:
            found = workloads(operation, by_axis)
            path = asked.out
            if len(called) > 1:
                stem, extension = os.path.splitext(path)
                path = "%s.%s%s" % (stem, safe(operation.name), extension)
            whole, taken = sum(workload.seconds for workload in found), set()
            text = "# %s, captured by kiln. weight: percent of its time.\n" % operation.name
            text += "".join(block(w, unique(w.name(), taken), whole) for w in limited(found, asked.most))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            say("wrote %s" % path)
        return
    if len(called) > 1:
        raise BadOperation("--into %s: %d operations were called, and a kernel file is for one; name it with --op: %s" % (
            kernel.path, len(called), ", ".join(operation.name for operation in called)))
    found = workloads(called[0], by_arguments(kernel.arguments, given, kernel.dims))
    text, added, weighted = kernel.merged(limited(found, asked.most))
    say(kernel.diff(text).rstrip("\n"))
    if asked.write:
        with open(kernel.path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        say("wrote %s: %s added, %s weighted" % (kernel.path, count(added, "workload"), weighted))
    else:
        say("nothing was written; hint: --write applies this change to %s" % kernel.path)


def limited(found, most):
    """The workloads that took the most time."""
    whole, rest = sum(workload.seconds for workload in found), found[most:]
    if rest:
        share = sum(workload.seconds for workload in rest) / whole if whole else 0.0
        say("note: %s left out, %s of the time; --most raises the limit" % (count(len(rest), "workload"), percent(share)))
    return found[:most]
