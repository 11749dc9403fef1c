"""The worker's second piece: functions timed on a device, in memory that another process keeps there and lends.

That process draws what calls read and fetches what they wrote: here is nothing but tensors over its memory. What times a
function runs in the function's own process, and what a function could reach of it is bound before its file is read.
"""

import gc
import os
import sys
from functools import partial
from time import perf_counter_ns as clock, process_time_ns as process_time, thread_time_ns as thread_time

try:
    import resource
except ImportError:
    resource = None


def preempted():
    """How often the system gave this thread's processor to somebody else; None where it does not tell."""
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return None
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


WAITS = []


def waiting():
    """Nanoseconds in which this thread, which asks first, could have run and had no processor."""
    try:
        if not WAITS:
            WAITS.append(os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC))
        return int(os.pread(WAITS[0], 96, 0).split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def siblings():
    """Nanoseconds of processor time that other threads of this process have had: while they run this one may wait, and
    that is time the function takes all the same."""
    return process_time() - thread_time()


class Mirror:
    """Memory on a device that another process lends: all sets of arguments, one behind the other."""

    def __init__(self, lent, memory, address=0):
        self.handle, self.stride, self.size = lent["handle"], lent["stride"], lent["bytes"]
        self.all, self.address = memory[lent["offset"] :], address


class Device:
    """A device PyTorch knows by this name: memory that is lent, and times by the host's clock."""

    def __init__(self, torch, place):
        self.torch, self.place, self.mirror = torch, place, None

    def borrow(self, lent, sets):
        """Maps what another process lends, in place of what it lent before."""
        self.release()
        self.mirror = self.open(lent, lent["offset"] + sets * lent["stride"])
        return self.mirror

    def release(self):
        """Lets go of it: its keeper may move it now."""
        mirror, self.mirror = self.mirror, None
        if mirror is not None:
            self.wait()
            self.forget_graphs()
            mirror.all = None
            self.close(mirror)

    def watch(self, on):
        """Tells a profiler around this process to begin or to end."""

    def time(self, run, graph, began, samples):
        """The times of so many runs, and what the last one returned. `began` is when they were asked for."""
        nanoseconds, preemptions, result = [], [], None
        gc.disable()
        try:
            for _ in range(samples):
                # Nothing of an earlier call may run into this sample.
                self.wait()
                # What the last sample returned is given back here, not on this one's clock.
                result = None
                before = preempted()
                result, spent = self.measure(run, graph)
                if before is not None:
                    preemptions.append(preempted() - before)
                nanoseconds.append(spent)
        finally:
            gc.enable()
        wall = clock() - began
        times = {
            "nanoseconds": nanoseconds,
            "wall_nanoseconds": wall,
            "untimed_nanoseconds": max(0, wall - sum(nanoseconds)),
            "preemptions": preemptions,
        }
        return times, result

    def prepare(self, row, _key, _outputs):
        """What makes one sample of these calls, and whether it is a graph."""
        return partial(in_a_row, row), False

    def measure(self, run, _graph):
        start = clock()
        result = run()
        return result, clock() - start

    def nothing(self):
        """A function that does as good as nothing, but does it on the device: what is around it costs what it costs."""
        spare = self.torch.zeros(1, device=self.place)

        def least(_inputs, _scalars, _outputs):
            spare.zero_()

        return least

    def copy(self, pairs):
        """Copies tensors to others."""
        for output, value in pairs:
            copy_to(output, value)

    def lie(self, value):
        return None

    def open(self, lent, size):
        raise Failed("%s has no memory that is lent" % self.place)

    def close(self, mirror):
        pass

    def forget_graphs(self):
        pass

    def wait(self):
        pass

    def wedged(self):
        return None

    def describe(self):
        raise Failed("%s does not say what it is" % self.place)


def in_a_row(row):
    return [call() for call in row]
