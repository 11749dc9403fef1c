"""The command line of capture: arguments, a program, a report, files. Ends with the program's exit code; with 2 for a mistake in
the arguments, and with 1 if nothing was captured."""

import argparse
import contextlib
import importlib.util
import os
import sys
from time import perf_counter

from kiln.capture import operations
from kiln.capture.functions import BadOperation, record_function, wrapped
from kiln.capture.kernel_file import KernelFile
from kiln.capture.kernels import Kernels
from kiln.capture.program import Program
from kiln.capture.recorder import Recorder
from kiln.capture.report import count, duration, report, say
from kiln.capture.values import Values
from kiln.capture.writing import write
from kiln.errors import Mismatch

BAD_INPUT, NOTHING = 2, 1
OF_MAIN = "__main__:"


def parser():
    names = "NAME (a Triton kernel), aten.mm or torch.mm (PyTorch), module:function (Python); may hold * and ?"
    parser = argparse.ArgumentParser("python -m kiln.capture", description="Run a program and record how it calls an operation.",
                                     usage="%(prog)s [--op NAME ...] [--out FILE] [--into kernel.toml] -- SCRIPT ARGS...")
    parser.add_argument("--op", action="append", default=[], metavar="NAME", help=names + "; every Triton kernel if omitted")
    parser.add_argument("--out", default="workloads.toml", metavar="FILE", help="where workloads are written [workloads.toml]")
    parser.add_argument("--into", metavar="FILE", help="show what the workloads change in a kernel file")
    parser.add_argument("--write", action="store_true", help="write that change")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=VALUE", help="a dimension that calls do not give")
    parser.add_argument("--most", type=int, default=16, metavar="N", help="workloads to write at most [16]")
    parser.add_argument("--values", metavar="FOLDER", help="save the arrays of the first call of each kind as .npy")
    parser.add_argument("--values-limit", type=float, default=256, metavar="MIB", help="MiB of values to save at most [256]")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- SCRIPT ARGS...")
    return parser


def main(words=None):
    asked = parser().parse_args(words)
    program = asked.program[1:] if asked.program[:1] == ["--"] else asked.program
    try:
        if not program:
            raise BadOperation("no program to run; hint: write it after --, as in -- train.py --steps 10")
        if asked.write and not asked.into:
            raise BadOperation("--write: it writes what --into shows; add --into kernel.toml")
        given = dict(map(dimension, asked.dim))
        # Read before the program runs, not after an hour of it.
        kernel = KernelFile(asked.into) if asked.into else None
        program = Program(program)
        if asked.values and not importlib.util.find_spec("numpy"):
            raise BadOperation("--values %s: saving arrays needs NumPy, which %s does not have" % (asked.values, sys.executable))
        values = Values(os.path.abspath(asked.values), int(asked.values_limit * 2**20)) if asked.values else None
        recorder = Recorder(values)
        began = perf_counter()
        code, mark, modes, seen = prepare(recorder, program, asked.op)
        prepared = perf_counter() - began
    except BadOperation as error:
        say("error: %s" % error)
        return BAD_INPUT
    here = os.getcwd()
    with contextlib.ExitStack() as stack:
        for mode in modes:
            stack.enter_context(mode)
        ended, seconds = program.run(code, mark)
    if program.is_copy():
        return ended
    recorder.read()
    try:
        # Paths are meant from where kiln was started, wherever the program went.
        os.chdir(here)
        written = tell(recorder, asked, kernel, given, prepared + seconds, seen, ended)
    except (BadOperation, Mismatch, OSError) as error:
        say("error: %s" % error)
        return ended or BAD_INPUT
    return ended if written else ended or NOTHING


def dimension(text):
    name, _, value = text.partition("=")
    if not name.isidentifier() or not value:
        raise BadOperation("--dim %s: expected NAME=VALUE" % text)
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return name, kind(value)
    return name, {"true": True, "false": False}.get(value, value)


def prepare(recorder, program, names):
    """Patches what is asked for; gives the program's code, its decorator, modes to run in, and what they see."""
    names = [name.replace("::", ".") for name in names]
    functions = [name for name in names if ":" in name]
    torch = [name for name in names if ":" not in name and "." in name]
    triton = [name for name in names if ":" not in name and "." not in name]
    seen = []
    own = [name[len(OF_MAIN):] for name in functions if name.startswith(OF_MAIN)]
    code = program.compile(own)
    if not names and importlib.util.find_spec("triton"):
        triton = ["*"]
    if not names and not triton:
        raise BadOperation("nothing to record: Triton is not installed; hint: name an operation with --op")
    for name in functions:
        if not name.startswith(OF_MAIN):
            record_function(recorder, name)
    if triton:
        kernels = Kernels(recorder, triton)
        kernels.install()
        seen.append(("Triton kernels", kernels.seen))
    modes = []
    if torch:
        modes, operations_seen = operations.modes(recorder, torch)
        seen.append(("PyTorch operations", operations_seen))
    for name in names:
        if not any(letter in name for letter in "*?["):
            recorder.operation(name, kind_of(name))

    def mark(name):
        operation = recorder.operation(OF_MAIN + name, "function")
        return lambda function: wrapped(recorder, operation, function)

    return code, mark, modes, seen


def kind_of(name):
    return "function" if ":" in name else "PyTorch operation" if "." in name else "Triton kernel"


def tell(recorder, asked, kernel, given, seconds, seen, ended):
    """Reports and writes what was captured; false where nothing was."""
    # What recording took is not the program's.
    program = max(seconds - recorder.overhead, 0.0)
    called = [operation for operation in recorder.operations.values() if operation.calls]
    say("\nkiln capture: the program ran %s and ended with %d" % (duration(seconds), ended))
    for operation in sorted(called, key=lambda operation: -operation.seconds):
        for line in report(operation, program):
            say(line)
    if called:
        calls = sum(operation.calls for operation in called)
        say("recording took %s, %s a call; the program's time above is without it" % (
            duration(recorder.overhead), duration(recorder.overhead / calls)))
    for operation in recorder.operations.values():
        if not operation.calls:
            say("warning: %s was never called" % operation.name)
    if len(called) < max(len(recorder.operations), 1):
        for what, names in seen:
            listed = ", ".join(name for name, _ in names.most_common(8))
            say("hint: %s that ran: %s" % (what, listed or "none"))
    if recorder.values and recorder.values.files:
        left = recorder.values.left_out
        say("wrote %s in %s%s" % (count(recorder.values.files, "array"), asked.values,
                                  "; %s beyond --values-limit left out" % count(left, "array") if left else ""))
    if not called:
        return False
    write(called, asked, kernel, given)
    return True


if __name__ == "__main__":
    sys.exit(main())
