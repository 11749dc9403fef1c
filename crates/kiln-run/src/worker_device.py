"""The worker's second piece: shared memory mirrored on a device, and functions timed there by the host's clock.

Images are copies of that memory, kept on the device and laid into the mirror. Refuses images that are not there or do
not fit.
"""

import gc
import os
import sys
from time import perf_counter_ns as clock, process_time_ns as process_time, thread_time_ns as thread_time

try:
    import resource
except ImportError:
    resource = None

# The least a device overwrites to cool its caches.
COLD = 64 << 20
# Pages, and how many of them a mirror may begin further on.
PAGE, PAGES = 4096, 512


def preempted():
    """How often the system gave this thread's processor to somebody else; None where it does not tell."""
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return None
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def waiting():
    """Nanoseconds in which this thread could have run and had no processor."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def siblings():
    """Nanoseconds of processor time that other threads of this process have had: while they run this one may wait, and
    that is time the function takes all the same."""
    return process_time() - thread_time()


class Mirror:
    """The shared memory's bytes again, on a device."""

    def __init__(self, torch, place, memory):
        self.host = torch.frombuffer(memory, dtype=torch.uint8)
        self.pinned = False
        self.settle(torch, place)

    def settle(self, torch, place):
        # At another page each time: PyTorch gives the same place again and again, and where memory lies shifts the times
        # of short kernels by some per cent. That shall be noise, not bias.
        shift = PAGE * (int.from_bytes(os.urandom(4), "little") % PAGES)
        size = shift + len(self.host)
        try:
            room = torch.empty(size, dtype=torch.uint8, device=place)
        except RuntimeError:
            # Before the old place is given back, so that it cannot be the same again; unless there is no room for both.
            self.bytes = None
            room = torch.empty(size, dtype=torch.uint8, device=place)
        self.bytes = room[shift:]
        self.laid = None

    def part(self, offset, size):
        return self.bytes[offset : offset + size]


class Image:
    """Bytes kept on a device. Scalars known when it was made need not be fetched from there."""

    def __init__(self, key, data, memory, slots):
        self.key, self.bytes = key, data
        self.known = {self.place(s): scalar(memory, s) for s in slots if s["role"] == "scalar"}

    @staticmethod
    def place(slot):
        return slot["offset"], slot["dtype"]

    def scalar(self, slot):
        place = self.place(slot)
        if place not in self.known:
            part = self.bytes[slot["offset"] : slot["offset"] + slot["bytes"]]
            self.known[place] = scalar(bytes(part.tolist()), dict(slot, offset=0))
        return self.known[place]


class Device:
    """Mirrors and images of shared memory on a device PyTorch knows by this name, and times by the host's clock."""

    def __init__(self, torch, place):
        self.torch, self.place = torch, place
        self.mirrors, self.images = {}, {}
        self.cold, self.turn = None, 0

    def mirror(self, key, memory):
        if key not in self.mirrors:
            self.mirrors[key] = mirror = Mirror(self.torch, self.place, memory)
            self.pin(mirror)
        return self.mirrors[key]

    def move(self, key):
        """Gives a memory another place on the device."""
        mirror = self.mirrors.get(key)
        if mirror is not None:
            self.wait()
            self.forget_graphs_of(key)
            mirror.settle(self.torch, self.place)

    def forget(self, key):
        """Gives back all that belongs to a memory which is no longer mapped."""
        mirror = self.mirrors.pop(key, None)
        if mirror is not None:
            self.unpin(mirror)
        self.images = {number: image for number, image in self.images.items() if image.key != key}

    def upload(self, key, memory, slots, number):
        mirror = self.mirror(key, memory)
        # First, so that there is never room needed for two; and those unused for longest, that there is room at all.
        self.images.pop(number, None)
        held = sum(len(image.bytes) for image in self.images.values())
        while self.images and held + len(mirror.bytes) > self.room():
            held -= len(self.images.pop(next(iter(self.images))).bytes)
        data = self.torch.empty_like(mirror.bytes)
        data.copy_(mirror.host)
        self.images[number] = Image(key, data, memory, slots)
        self.wait()

    def lay(self, key, memory, number):
        image, mirror = self.images.get(number), self.mirror(key, memory)
        if image is None:
            raise Failed("no image %d" % number)
        if len(image.bytes) != len(mirror.bytes):
            raise Failed("image %d has %d bytes, the mapped memory %d" % (number, len(image.bytes), len(mirror.bytes)))
        self.images[number] = self.images.pop(number)
        mirror.bytes.copy_(image.bytes)
        mirror.laid = image
        self.wait()

    def fetch(self, key, memory, parts):
        mirror = self.mirror(key, memory)
        self.wait()
        for start, end in parts or [(0, len(mirror.bytes))]:
            if not 0 <= start <= end <= len(mirror.bytes):
                raise Failed("bytes %d to %d are wanted, there are %d" % (start, end, len(mirror.bytes)))
            mirror.host[start:end].copy_(mirror.bytes[start:end])
        self.wait()

    def time(self, mirror, run, graph, began, samples, restore, flush):
        """The times of so many runs, and what the last one returned. `began` is when they were asked for."""
        nanoseconds, preemptions, result = [], [], None
        gc.disable()
        try:
            for _ in range(samples):
                # Nothing of an earlier call may run into this sample.
                self.wait()
                for copy in restore:
                    mirror.part(copy["to"], copy["bytes"]).copy_(mirror.part(copy["from"], copy["bytes"]))
                if flush:
                    self.cool()
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

    def cool(self):
        if self.cold is None:
            self.cold = self.torch.empty(max(2 * self.cache(), COLD), dtype=self.torch.uint8, device=self.place)
        # Another value each time: nothing may find that it is there already.
        self.turn = (self.turn + 1) % 251
        self.cold.fill_(self.turn)

    def prepare(self, call, calls, _key, _outputs):
        """What makes one sample, and whether it is a graph."""

        def run():
            result = None
            for _ in range(calls):
                result = call()
            return result

        return run, False

    def measure(self, run, _graph):
        start = clock()
        result = run()
        return result, clock() - start

    def pin(self, mirror):
        pass

    def unpin(self, mirror):
        pass

    def forget_graphs(self):
        pass

    def forget_graphs_of(self, key):
        pass

    def wait(self):
        pass

    def cache(self):
        return 0

    def room(self):
        """Bytes all images may have together."""
        return sys.maxsize

    def wedged(self):
        return None

    def describe(self):
        raise Failed("%s does not say what it is" % self.place)
