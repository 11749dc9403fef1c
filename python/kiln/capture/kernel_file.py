"""Captured workloads merged into a kernel file. In: the file's text and workloads. Out: the new text: a workload with the same
dimensions gets the weight, others are added behind the last one; nothing else changes, and that is checked by reading the new
text again. Refuses a file that cannot be read or changed so."""

import difflib
import re

from kiln.capture.functions import BadOperation
from kiln.capture.workloads import block, number, unique
from kiln.shapes import Argument

HEADER = re.compile(r"\s*\[\[\s*workloads\s*\]\]")
ANY_HEADER = re.compile(r"\s*\[")
WEIGHT = re.compile(r"\s*weight\s*=")


class KernelFile:
    def __init__(self, path):
        self.path = path
        try:
            with open(path, encoding="utf-8", newline="") as file:
                self.text = file.read()
        except (OSError, ValueError) as error:
            raise BadOperation("--into %s: %s" % (path, getattr(error, "strerror", None) or error)) from None
        self.read = parse(path, self.text)
        try:
            arguments = self.read.get("arguments", [])
            self.arguments = [Argument(a["name"], a["role"], a.get("type", ""), a.get("value")) for a in arguments]
            self.workloads = self.read.get("workloads", [])
            self.dims = list(dict.fromkeys(name for w in self.workloads for name in w.get("dims", {})))
        except (AttributeError, KeyError, TypeError):
            raise BadOperation("--into %s: not a kernel file; `kiln space` says where" % path) from None
        if not any(argument.is_tensor for argument in self.arguments):
            raise BadOperation("--into %s: it has no [[arguments]] with shapes to get dimensions from" % path)
        if not self.dims:
            sides = [side for argument in self.arguments for side in argument.sides if side.isidentifier()]
            self.dims = list(dict.fromkeys(sides))

    def merged(self, found):
        """The text with workloads in it, and how many were added and weighted."""
        whole = sum(workload.seconds for workload in found)
        lines = self.text.splitlines(keepends=True)
        blocks = spans(lines)
        if len(blocks) != len(self.workloads):
            raise BadOperation("--into %s: write its workloads under [[workloads]] headings" % self.path)
        taken = {workload.get("name") for workload in self.workloads}
        new, changed = [], []
        for workload in found:
            at = next((i for i, w in enumerate(self.workloads) if self.same(w, workload.dims)), None)
            if at is None:
                new.append(block(workload, unique(workload.name(), taken), whole))
            elif workload.weight(whole):
                changed.append((at, workload.weight(whole)))
        end = blocks[-1][1] if blocks else len(lines)
        if new:
            before = "\n" if not blocks and self.text.strip() else ""
            if end and not lines[end - 1].endswith("\n"):
                lines[end - 1] += "\n"
            lines.insert(end, before + "".join(new))
        for at, weight in sorted(changed, reverse=True):
            weigh(lines, blocks[at], weight)
        text = "".join(lines)
        self.check(text, len(new), dict(changed))
        return text, len(new), len(changed)

    @staticmethod
    def same(workload, dims):
        return workload.get("use", "tune") == "tune" and workload.get("dims", {}) == dims

    def check(self, text, added, weights):
        """Everything that was there is there still."""
        read = parse(self.path, text)
        then = [dict(w, weight=weights[i]) if i in weights else w for i, w in enumerate(self.workloads)]
        now = read.pop("workloads", [])
        rest = {key: value for key, value in self.read.items() if key != "workloads"}
        if read != rest or now[: len(then)] != then or len(now) != len(then) + added:
            raise BadOperation("--into %s: kiln cannot add to it without changing something else; add the workloads by hand"
                               % self.path)

    def diff(self, text):
        lines = lambda text: text.splitlines(keepends=True)
        return "".join(difflib.unified_diff(lines(self.text), lines(text), self.path, self.path + " (captured)", n=2))


def parse(path, text):
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib
        except ImportError:
            raise BadOperation("--into %s: reading it needs Python 3.11, or the package tomli" % path) from None
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise BadOperation("--into %s: %s" % (path, error)) from None


def spans(lines):
    """The lines of each workload: from its heading to behind its last key."""
    found = []
    for start, line in enumerate(lines):
        if HEADER.match(line):
            end = last = start + 1
            while end < len(lines) and not ANY_HEADER.match(lines[end]):
                end += 1
                if lines[end - 1].strip() and not lines[end - 1].lstrip().startswith("#"):
                    last = end
            found.append((start, last))
    return found


def weigh(lines, span, weight):
    """Sets the weight of a workload."""
    start, end = span
    line = "weight = %s\n" % number(weight)
    for at in range(start, end):
        if WEIGHT.match(lines[at]):
            lines[at] = line
            return
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    lines.insert(end, line)
