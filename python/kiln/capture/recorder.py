"""What was called, how often and how long. In: calls, one after the other. Out: for each operation its kinds of calls with counts
and times. A call inside another call of the same operation belongs to that one. Time is the GPU's own, between two events, where
an array lies on a GPU, and the clock on the wall otherwise."""

import sys
import threading
from time import perf_counter

from kiln.capture.kinds import MOST_KINDS, kind_of

# Pairs of events that are read at once: reading waits for the GPU.
PENDING = 1024


class Calls:
    """Calls of one kind."""

    def __init__(self):
        self.count = self.timed = 0
        self.measured = 0.0

    def add(self, seconds):
        self.timed += 1
        self.measured += seconds

    @property
    def seconds(self):
        """The time of all, those that were not timed taken for average ones; none where none was timed."""
        return self.measured / self.timed * self.count if self.timed else None


class Operation:
    """One operation and its kinds of calls."""

    def __init__(self, name, what):
        self.name, self.what = name, what
        self.kinds = {}
        self.inside = threading.local()

    @property
    def calls(self):
        return sum(calls.count for calls in self.kinds.values())

    @property
    def seconds(self):
        return sum(calls.seconds or 0.0 for calls in self.kinds.values())

    def ranked(self):
        """Kinds and their calls, those that took the most time first."""
        return sorted(self.kinds.items(), key=lambda pair: -(pair[1].seconds or 0.0))

    def of_kind(self, named):
        kind, arrays = kind_of(named)
        if kind not in self.kinds and len(self.kinds) >= MOST_KINDS:
            kind, arrays = kind_of(named, scalars=False)
        return kind, self.kinds.setdefault(kind, Calls()), arrays


class Recorder:
    def __init__(self, values=None):
        self.operations = {}
        self.lock = threading.Lock()
        self.pending, self.overhead, self.muted, self.values = [], 0.0, 0, values

    def operation(self, name, what):
        with self.lock:
            return self.operations.setdefault(name, Operation(name, what))

    def call(self, operation, names, function, compiled=None):
        """Makes a call and records it. `names` gives the arguments by name; `compiled` counts what was compiled so far: the
        time of a call that compiles is not the kernel's."""
        inside = operation.inside
        if self.muted or getattr(inside, "depth", 0):
            return function()
        began = perf_counter()
        with self.lock:
            kind, calls, arrays = operation.of_kind(names())
            calls.count += 1
        if self.values is not None:
            self.values.save(operation, kind, arrays)
        events = pair(arrays)
        before = compiled and compiled()
        inside.depth = 1
        if events:
            events[0].record()
        start = perf_counter()
        self.overhead += start - began
        try:
            return function()
        finally:
            end = perf_counter()
            inside.depth = 0
            if before == (compiled and compiled()):
                self.time(calls, events, end - start)
            self.overhead += perf_counter() - end

    def time(self, calls, events, seconds):
        with self.lock:
            if events is None:
                calls.add(seconds)
            elif events:
                events[1].record()
                self.pending.append((calls, events))
                if len(self.pending) >= PENDING:
                    self.read()

    def read(self):
        """Reads the events that are waiting."""
        pending, self.pending = self.pending, []
        for calls, (start, end) in pending:
            end.synchronize()
            calls.add(start.elapsed_time(end) / 1e3)


def pair(arrays):
    """Two events where an array lies on a GPU; none where none does; nothing at all where no event can be timed."""
    if not any(getattr(getattr(array, "device", None), "type", None) == "cuda" for _, array in arrays):
        return None
    cuda = sys.modules["torch"].cuda
    if cuda.is_current_stream_capturing():
        return ()
    return cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
