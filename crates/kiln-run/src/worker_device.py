"""The worker's second piece: shared memory mirrored on a device, and functions timed there by the host's clock.

Images are copies of that memory, kept on the device and laid into the mirror. A mirror may hold several sets of arguments,
which are filled with fresh numbers before every sample, by PyTorch's generators. They run in the function's own process,
and so does what times it: what a function could reach of both is bound before its file is read. Refuses images that are
not there or do not fit.
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

# The least a device overwrites to cool its caches.
COLD = 64 << 20
# Pages, and how many of them a mirror may begin further on.
PAGE, PAGES = 4096, 512
# Bytes of a set up to which all are copied at once: one launch instead of many, at less speed.
SMALL = 1 << 20
# Of 64 bits, and a number whose multiples lie far apart in them.
WORD, APART = (1 << 64) - 1, 0x9E3779B97F4A7C15


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
    """The shared memory's bytes again, on a device, once for every set of arguments."""

    def __init__(self, torch, place, memory, sets=1):
        self.host = torch.frombuffer(memory, dtype=torch.uint8)
        self.pinned = False
        # An odd number of pages, so that the sets do not fall into the same lines of a cache.
        self.stride = (-(-len(self.host) // PAGE) | 1) * PAGE
        self.settle(torch, place, sets)

    def settle(self, torch, place, sets):
        # At another page each time: PyTorch gives the same place again and again, and where memory lies shifts the times
        # of short kernels by some per cent. That shall be noise, not bias.
        shift = PAGE * (int.from_bytes(os.urandom(4), "little") % PAGES)
        size = shift + sets * self.stride
        try:
            room = torch.empty(size, dtype=torch.uint8, device=place)
        except RuntimeError:
            # Before the old place is given back, so that it cannot be the same again; unless there is no room for both.
            self.all = self.bytes = None
            room = torch.empty(size, dtype=torch.uint8, device=place)
        self.all, self.sets = room[shift:], sets
        self.bytes = self.all[: len(self.host)]
        self.laid = None

    def rows(self, sets):
        """The bytes of the first sets, a row for each."""
        return self.all[: sets * self.stride].view(sets, self.stride)[:, : len(self.host)]

    def set(self, number):
        """The bytes of one set."""
        return self.all[number * self.stride :][: len(self.host)]


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


class Numbers:
    """PyTorch's generator of random numbers, and what is done with it, bound before a function's file is read."""

    def __init__(self, torch, place):
        generator = torch.Generator(device=place)
        tensor = torch.Tensor
        copy, normal, uniform, random = tensor.copy_, tensor.normal_, tensor.uniform_, tensor.random_
        empty, view, signed = torch.empty, tensor_in, torch.int64
        self.copy, self.seed = copy, generator.manual_seed

        def fill(memory, fill):
            """Draws one argument of a set."""
            size = BYTES.get(fill["dtype"], 1)
            there = view(memory, dict(fill, name="", bytes=size * reach(fill)), False)
            kind, ends = (fill["numbers"], ()) if isinstance(fill["numbers"], str) else next(iter(fill["numbers"].items()))
            if kind == "whole":
                low, beyond = ends
                drawn = empty(there.shape, dtype=signed, device=there.device)
                if beyond >= 1 << 62:
                    # All bits that a signed number has; the lowest ones are those of the type.
                    random(drawn, -(1 << 63), None, generator=generator)
                else:
                    random(drawn, low, low + beyond + 1, generator=generator)
                copy(there, drawn)
                return
            # Narrow types are drawn wide and rounded.
            drawn = there if size > 1 else empty(there.shape, device=there.device)
            if kind == "normal":
                normal(drawn, 0.0, 1.0, generator=generator)
            else:
                uniform(drawn, ends[0], ends[1], generator=generator)
            if drawn is not there:
                copy(there, drawn)

        self.fill = fill


class Device:
    """Mirrors and images of shared memory on a device PyTorch knows by this name, and times by the host's clock."""

    def __init__(self, torch, place):
        self.torch, self.place = torch, place
        self.mirrors, self.images = {}, {}
        self.cold, self.turn = None, 0
        self.numbers = Numbers(torch, place)

    def mirror(self, key, memory, sets=1):
        mirror = self.mirrors.get(key)
        if mirror is None:
            self.mirrors[key] = mirror = Mirror(self.torch, self.place, memory, sets)
            self.pin(mirror)
        elif mirror.sets < sets:
            self.move(key, sets)
        return mirror

    def move(self, key, sets):
        """Gives a memory another place on the device."""
        mirror = self.mirrors.get(key)
        if mirror is not None:
            self.wait()
            self.forget_graphs_of(key)
            mirror.settle(self.torch, self.place, sets)

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
        while self.images and held + len(mirror.host) > self.room():
            held -= len(self.images.pop(next(iter(self.images))).bytes)
        data = self.torch.empty_like(mirror.bytes)
        data.copy_(mirror.host)
        self.images[number] = Image(key, data, memory, slots)
        self.wait()

    def lay(self, key, memory, number):
        mirror = self.mirror(key, memory)
        image = self.take(mirror, number)
        mirror.bytes.copy_(image.bytes)
        self.wait()

    def take(self, mirror, number):
        """An image that fits, whose scalars count from now on."""
        image = self.images.get(number)
        if image is None:
            raise Failed("no image %d" % number)
        if len(image.bytes) != len(mirror.host):
            raise Failed("image %d has %d bytes, the mapped memory %d" % (number, len(image.bytes), len(mirror.host)))
        self.images[number] = self.images.pop(number)
        mirror.laid = image
        return image

    def draw(self, mirror, drawing, sets, further=0):
        """Lays an image into the first sets, and over it the numbers of as many calls, `further` behind the first."""
        image = self.take(mirror, drawing["image"])
        small = len(image.bytes) <= SMALL
        if small:
            self.numbers.copy(mirror.rows(sets), image.bytes)
        for number in range(sets):
            if not small:
                self.numbers.copy(mirror.set(number), image.bytes)
            call = drawing["first"] + further + number
            self.numbers.seed((drawing["seed"] + call * APART) & WORD)
            for fill in drawing["fills"]:
                self.numbers.fill(mirror.set(number), fill)

    def fetch(self, key, memory, parts, number=0):
        mirror = self.mirror(key, memory)
        if not 0 <= number < mirror.sets:
            raise Failed("set %d is wanted, there are %d" % (number, mirror.sets))
        self.wait()
        there = mirror.set(number)
        for start, end in parts or [(0, len(there))]:
            if not 0 <= start <= end <= len(there):
                raise Failed("bytes %d to %d are wanted, there are %d" % (start, end, len(there)))
            mirror.host[start:end].copy_(there[start:end])
        self.wait()

    def time(self, run, graph, began, samples, prepare, flush):
        """The times of so many runs, and what the last one returned. `began` is when they were asked for, `prepare` is
        told the number of each."""
        nanoseconds, preemptions, result = [], [], None
        gc.disable()
        try:
            for number in range(samples):
                # Nothing of an earlier call may run into this sample.
                self.wait()
                prepare(number)
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

    def prepare(self, row, _key, _outputs):
        """What makes one sample of these calls, and whether it is a graph."""
        return partial(in_a_row, row), False

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


def in_a_row(row):
    return [call() for call in row]
