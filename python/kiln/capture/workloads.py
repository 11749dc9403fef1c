"""Workloads of captured calls. In: an operation, and the arguments of a kernel file where there is one. Out: dimensions with the
share of the operation's time, those that took the most first. Without a kernel file a dimension is named after its argument and
axis. Refuses, as `Mismatch`, calls that do not fit the kernel's arguments."""

import json
import re

from kiln.capture.kinds import Array
from kiln.capture.report import count
from kiln.errors import Mismatch
from kiln.shapes import solve


# A longer name would be no help to anyone.
LONGEST = 60


class Workload:
    """Dimensions, the calls with them and the share of the operation's time; none where no call was timed."""

    def __init__(self, dims):
        self.dims, self.count, self.seconds, self.about = dims, 0, 0.0, {}

    def name(self):
        words = ["%s%s%s" % (name, "-" if name[-1:].isdigit() else "", value) for name, value in self.dims.items()]
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", "_".join(words)).strip("_.-").lower()
        return name if 0 < len(name) <= LONGEST else "captured"

    def weight(self, whole):
        """A percentage of the operation's time, with three digits."""
        return float("%.3g" % max(100.0 * self.seconds / whole, 0.01)) if whole and self.seconds else None

    def remark(self):
        return "%s; %s" % (count(self.count, "call"), "; ".join(self.about))


def workloads(operation, dims_of):
    """The workloads of an operation, its kinds with the same dimensions taken together."""
    found = {}
    for kind, calls in operation.ranked():
        dims = dims_of(kind)
        workload = found.setdefault(json.dumps(dims), Workload(dims))
        workload.count += calls.count
        workload.seconds += calls.seconds or 0.0
        workload.about[", ".join(part.dtype for _, part in kind if isinstance(part, Array)) or "no arrays"] = True
    return sorted(found.values(), key=lambda workload: -workload.seconds)


def by_axis(kind):
    """Dimensions named after arguments and axes: x_0, x_1."""
    dims = {}
    for name, part in kind:
        if isinstance(part, Array):
            dims.update({"%s_%d" % (identifier(name), axis): size for axis, size in enumerate(part.shape)})
        else:
            dims[identifier(name)] = part
    return dims


def identifier(name):
    name = re.sub(r"\W+", "_", name, flags=re.ASCII)
    return "_" + name if name[:1].isdigit() else name


def by_arguments(arguments, given, wanted):
    """Dimensions by the types of a kernel file's arguments. `given` ones are stated by the user; all `wanted` ones are needed."""

    def dims_of(kind):
        dims, _ = solve(arguments, matched(arguments, kind), given)
        missing = [name for name in wanted if name not in dims]
        if missing:
            raise Mismatch("the calls do not give %s" % ", ".join(missing), "state it: --dim %s=VALUE" % missing[0])
        return {name: dims[name] for name in wanted}

    return dims_of


def matched(arguments, kind):
    """The call's values by the kernel's names: by equal names, else arrays in their order."""
    tensors = [argument for argument in arguments if argument.is_tensor]
    inputs = [argument for argument in tensors if argument.role in ("in", "inout")]
    call = dict(kind)
    if inputs and all(argument.name in call for argument in inputs):
        return {argument.name: call[argument.name] for argument in arguments if argument.name in call}
    arrays = [(name, part) for name, part in kind if isinstance(part, Array)]
    passed = [argument for argument in tensors if argument.role in ("in", "inout", "out")]
    for taken in (inputs, passed):
        if taken and len(taken) == len(arrays):
            scalars = {argument.name: call[argument.name] for argument in arguments
                       if not argument.is_tensor and argument.name in call}
            return dict(scalars, **{argument.name: part for argument, (_, part) in zip(taken, arrays)})
    shown = lambda names: ", ".join(names) or "none"
    raise Mismatch("a call has %s (%s), the kernel file has %s (%s)" % (
        count(len(arrays), "array"), shown(name for name, _ in arrays),
        count(len(inputs), "input"), shown(argument.name for argument in inputs)))


def block(workload, name, whole):
    """A workload as the kernel file has it."""
    lines = ["[[workloads]]", 'name = "%s"' % name, "dims = %s" % inline(workload.dims)]
    weight = workload.weight(whole)
    share = "%.3g %% of its time, " % weight if weight else "not timed, "
    if weight:
        lines.append("weight = %s" % number(weight))
    lines[0] += "  # %s%s" % (share, workload.remark())
    return "\n".join(lines) + "\n"


def inline(dims):
    return "{ %s }" % ", ".join("%s = %s" % (name, literal(value)) for name, value in dims.items()) if dims else "{}"


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def number(weight):
    return repr(int(weight)) if weight == int(weight) else repr(weight)


def unique(name, taken):
    """A name that no other workload has."""
    found, again = name, 2
    while found in taken or found == "all":
        found, again = "%s_%d" % (name, again), again + 1
    taken.add(found)
    return found
