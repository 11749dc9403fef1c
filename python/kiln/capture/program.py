"""Runs a program as `python SCRIPT ARGS` or `python -m MODULE ARGS` would, in this process. In: the words of its command line. Out:
its exit code and the seconds it ran, however it ended: returned, raised, left by `sys.exit`, was interrupted or terminated."""

import io
import os
import runpy
import signal
import sys
import threading
import traceback
import types
from time import perf_counter

from kiln.capture.functions import MARK, BadOperation, decorated

INTERRUPTED = 130
TERMINATED = 143


class Terminated(BaseException):
    """The program was asked to end, and does not say how."""


class Program:
    """The program of a command line. Refuses one that is not there, before anything is patched."""

    def __init__(self, words):
        self.is_module = words[0] == "-m"
        self.words = words[1:] if self.is_module else words
        if not self.words:
            raise BadOperation("-m: expected the name of a module after it")
        self.name = self.words[0]
        if not self.is_module and not os.path.isfile(self.name):
            raise BadOperation("%s: no such file" % self.name)
        # As Python does it: the script's folder stands where `python -m` put the one it was started in.
        if not self.is_module:
            here = sys.path[:1] == [os.getcwd()]
            sys.path[: int(here)] = [os.path.dirname(os.path.abspath(self.name))]
        sys.argv = list(self.words)

    def compile(self, names):
        """Its code, with functions of its own marked."""
        if self.is_module:
            if names:
                raise BadOperation("__main__:%s: with -m, name the module instead: %s:%s" % (names[0], self.name, names[0]))
            return None
        with io.open_code(os.path.abspath(self.name)) as file:
            source = file.read()
        return decorated(source, self.name, names) if names else compile(source, self.name, "exec")

    def run(self, code, mark):
        """Runs it. `mark` makes a decorator for a function's name."""
        began, self.process = perf_counter(), os.getpid()
        try:
            heed_termination()
            self.execute(code, mark)
            ended = 0
        except SystemExit as left:
            ended = code_of(left.code)
        except KeyboardInterrupt:
            ended = INTERRUPTED
        except Terminated:
            ended = TERMINATED
        except BaseException as error:
            shorten(error, code)
            ended = 1
        return ended, perf_counter() - began

    def is_copy(self):
        """Whether this is a process that the program forked: what was captured is told and written by the program alone."""
        return os.getpid() != self.process

    def execute(self, code, mark):
        if code is None:
            runpy.run_module(self.name, run_name="__main__", alter_sys=True)
            return
        main = types.ModuleType("__main__")
        main.__dict__.update({"__file__": self.name, "__builtins__": __builtins__, MARK: mark})
        sys.modules["__main__"] = main
        exec(code, main.__dict__)


def heed_termination():
    """By itself Python ends at once, and what was captured would be lost. A program's own handler takes this one's place."""

    def end(number, frame):
        raise Terminated

    held = threading.local()

    def hold():
        held.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def release():
        signal.pthread_sigmask(signal.SIG_SETMASK, held.mask)

    def leave():
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        release()

    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)
        # A forked process ends as it would without anybody looking, also by a signal that comes before it has begun.
        os.register_at_fork(before=hold, after_in_parent=release, after_in_child=leave)


def code_of(left):
    """The exit code that Python gives for what `sys.exit` was called with."""
    if left is None:
        return 0
    if isinstance(left, int):
        return left & 0xFF
    print(left, file=sys.stderr)
    return 1


def shorten(error, code):
    """Prints a traceback as the program alone would have it."""
    trace = error.__traceback__
    while code is not None and trace is not None and trace.tb_frame.f_code is not code:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace or error.__traceback__)
