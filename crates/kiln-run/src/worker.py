"""The worker's side of the Python backend: loads a function, maps the shared memory, calls and times the function.

Answers questions on standard input, one JSON object a line, until it is closed. Nothing but the standard library is
needed to start; NumPy or PyTorch when tensors are mapped. The convention for functions:

    function(inputs, scalars, outputs, **config)

with dicts by argument name: inputs are read-only, outputs are written in place, an argument that is read and written is
in both. A function may instead return an array (one output) or a dict of arrays, which are then copied to the outputs,
off the clock: after the last sample, that one's. A file that has `torch` among its globals is given PyTorch tensors,
any other NumPy arrays. Loaded for the device, a file must have `torch` among its globals or import Triton; its tensors
lie on the GPU, in a mirror of the shared memory.
"""

import sys

# Files in the folder a worker happens to be started in must not stand in for the standard library.
sys.path[:] = [path for path in sys.path if path]

import faulthandler
import gc
import json
import os
from functools import partial
from time import perf_counter_ns as clock

PROTOCOL = 3
# NumPy's name, struct's letter and PyTorch's name of each dtype.
DTYPES = {
    "f64": ("float64", "d", "float64"),
    "f32": ("float32", "f", "float32"),
    "f16": ("float16", "e", "float16"),
    "bf16": (None, None, "bfloat16"),
    "f8e4m3": (None, None, "float8_e4m3fn"),
    "f8e5m2": (None, None, "float8_e5m2"),
    "i64": ("int64", "q", "int64"),
    "i32": ("int32", "i", "int32"),
    "i16": ("int16", "h", "int16"),
    "i8": ("int8", "b", "int8"),
    "u64": ("uint64", "Q", "uint64"),
    "u32": ("uint32", "I", "uint32"),
    "u16": ("uint16", "H", "uint16"),
    "u8": ("uint8", "B", "uint8"),
    "bool": ("bool", "?", "bool"),
}
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "u64": 8, "u32": 4, "u16": 2}
LINE = 64
# Shared memories kept mapped and mirrored on a device, and graphs kept captured.
ARENAS, GRAPHS = 8, 4
# Calls before a capture: what a function sets up on its first calls cannot be captured.
WARM = 3
# The least a device overwrites to cool its caches.
COLD = 64 << 20
# Nanoseconds in which a host notices that a device is idle.
UNSEEN = 50_000


try:
    import resource
except ImportError:
    resource = None


def preempted():
    """How often the system gave this thread's processor to somebody else; None where it does not tell."""
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return None
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


class Failed(Exception):
    """What could not be done, in words for the user."""


class Backend:
    def __init__(self):
        self.module = self.function = self.memory = self.key = None
        # Mapped memories, the one used last at the end.
        self.arenas = {}
        # The device that was opened, and the same again while a function is loaded for it.
        self.opened = self.device = None
        self.broken = ""
        self.path = ""
        self.config = {}
        self.slots = []
        self.inputs, self.outputs = {}, {}
        self.cold = bytearray()
        self.loads = 0

    def answer(self, ask):
        if self.broken:
            raise Failed(self.broken)
        try:
            return self.attempt(ask)
        except Exception as error:
            # After some errors a device does nothing more for this process.
            why = self.opened and self.opened.wedged()
            if not why:
                raise
            self.broken = describe(error if is_of_device(error) else why, self.path)
            raise Failed(self.broken)

    def attempt(self, ask):
        do = ask["do"]
        if do == "time":
            time = self.time if self.device is None else self.time_there
            return {"times": time(ask["samples"], ask["calls"], ask.get("restore", []), ask.get("flush", 0))}
        if do == "describe":
            self.opened = self.opened or self.open(self.torch())
            return {"device": self.opened.describe()}
        if do == "pin":
            pin(ask["cpus"])
        elif do == "load":
            self.load(ask["library"], ask["symbol"], ask.get("config") or {}, ask.get("device", False))
        elif do == "map":
            self.map(ask["arena"], ask["slots"])
        elif do == "call":
            self.call()
        elif do == "upload":
            self.there(do).upload(self.key, self.memory, self.slots, ask["image"])
        elif do == "lay":
            self.there(do).lay(self.key, self.memory, ask["image"])
        elif do == "fetch":
            self.there(do).fetch(self.key, self.memory)
        else:
            raise Failed("no such question: %s" % do)
        return "done"

    def load(self, path, symbol, config, device=False):
        from importlib.util import module_from_spec, spec_from_file_location

        if not os.path.isfile(path):
            raise Failed("%s: no such file" % path)
        self.module, self.function, self.path = None, None, os.path.abspath(path)
        folder = os.path.dirname(self.path)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        # Two files of one name must not be taken for each other.
        self.loads += 1
        name = "kiln_subject_%d" % self.loads
        spec = spec_from_file_location(name, self.path)
        if spec is None:
            raise Failed("%s: not a Python file" % path)
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        function = getattr(module, symbol, None)
        if not callable(function):
            raise Failed("%s: no function `%s`" % (path, symbol))
        self.device = None
        if device:
            if not uses_torch(module) and not uses_triton(module):
                raise Failed("%s: tensors lie on the GPU, but the file imports neither torch nor triton; "
                             "hint: write `import torch` at its top" % path)
            self.opened = self.opened or self.open(self.torch())
            self.device = self.opened
        if self.opened is not None:
            self.opened.forget_graphs()
        self.module, self.function, self.config = module, function, dict(config)
        if self.memory is not None:
            self.bind()

    def open(self, torch):
        return Cuda(torch)

    def torch(self):
        try:
            import torch
        except ImportError as error:
            raise Failed("tensors on the GPU need PyTorch, which %s cannot import: %s" % (sys.executable, error))
        return torch

    def there(self, do):
        """The device, with memory mapped."""
        if self.device is None:
            raise Failed("`%s` needs a device, and no function is loaded for one" % do)
        if self.memory is None:
            raise Failed("no memory is mapped")
        return self.device

    def map(self, path, slots):
        import mmap

        descriptor = os.open(path, os.O_RDWR)
        try:
            status = os.fstat(descriptor)
            # Sure while it is mapped: until then no other file can be given its number.
            key = (status.st_dev, status.st_ino, status.st_size)
            memory = self.arenas.get(key) or mmap.mmap(descriptor, 0)
        finally:
            os.close(descriptor)
        for slot in slots:
            # A function in Python has no use for descriptors.
            if slot["role"] != "tensormap":
                check_slot(slot, len(memory))
        self.arenas.pop(key, None)
        self.arenas[key] = memory
        self.memory, self.key, self.slots = memory, key, slots
        self.inputs, self.outputs = {}, {}
        while len(self.arenas) > (1 if self.opened is None else ARENAS):
            oldest = next(iter(self.arenas))
            if self.opened is not None:
                self.opened.forget(oldest)
            del self.arenas[oldest]
        if self.module is not None:
            self.bind()

    def bind(self):
        """Makes arrays over the shared memory or its mirror, of the kind the loaded file works with."""
        self.inputs, self.outputs = {}, {}
        memory, make = self.memory, torch_tensor if uses_torch(self.module) else numpy_array
        if self.device is not None:
            memory, make = self.device.mirror(self.key, self.memory).bytes, tensor_in
        for slot in self.slots:
            role = slot["role"]
            if role in ("in", "out", "inout"):
                array = make(memory, slot, role == "in")
                if role != "out":
                    self.inputs[slot["name"]] = array
                if role != "in":
                    self.outputs[slot["name"]] = array

    def ready(self):
        """The call to make. Scalars are read now: the parent may have written them after mapping."""
        if self.function is None:
            raise Failed("no function is loaded")
        if self.memory is None:
            raise Failed("no memory is mapped")
        scalars = self.scalars()
        function, inputs, outputs, config = self.function, self.inputs, self.outputs, self.config
        # The function's own dicts, for it may change them; and nothing of ours on the clock.
        return partial(function, dict(inputs), scalars, dict(outputs), **config)

    def scalars(self):
        """On a device those of the image that was laid there."""
        laid = self.device and self.device.mirror(self.key, self.memory).laid
        read = laid.scalar if laid else partial(scalar, self.memory)
        return {slot["name"]: read(slot) for slot in self.slots if slot["role"] == "scalar"}

    def call(self):
        result = self.ready()()
        if self.device is not None:
            # What it returned may still be computed, on any stream.
            self.device.wait()
        self.deliver(result)
        if self.device is not None:
            self.device.wait()

    def time_there(self, samples, calls, restore, flush):
        """Times the function on the device."""
        began = clock()
        call, device = self.ready(), self.device
        check_restore(restore, calls, len(self.memory))
        mirror = device.mirror(self.key, self.memory)
        outputs = [mirror.part(slot["offset"], slot["bytes"]) for slot in self.slots if slot["name"] in self.outputs]
        key = (self.key, repr(self.slots), repr(self.scalars()), calls)
        run, graph = device.prepare(call, calls, key, outputs)
        timing, result = device.time(mirror, run, graph, began, samples, restore, flush)
        self.deliver(result)
        device.wait()
        # A replayed graph does not mind who has this thread's processor.
        preemptions = [] if graph else timing.pop("preemptions")
        return dict(timing, calls=calls, graph=graph, gpu=None, preemptions=preemptions)

    def time(self, samples, calls, restore, flush):
        call = self.ready()
        memory = memoryview(self.memory)
        check_restore(restore, calls, len(memory))
        nanoseconds, preemptions, untimed, first, stop, result = [], [], 0, None, 0, None
        repeats = range(calls)
        gc.disable()
        try:
            for _ in range(samples):
                begin = clock()
                for copy in restore:
                    source, target, size = copy["from"], copy["to"], copy["bytes"]
                    memory[target : target + size] = memory[source : source + size]
                if flush:
                    self.cool(flush)
                # What the last sample returned is given back here, not on this one's clock.
                result = None
                before = preempted()
                start = clock()
                for _ in repeats:
                    result = call()
                stop = clock()
                if before is not None:
                    preemptions.append(preempted() - before)
                nanoseconds.append(stop - start)
                untimed += start - begin
                first = start if first is None else first
        finally:
            gc.enable()
        begin = clock()
        self.deliver(result)
        untimed += clock() - begin
        wall = stop - first if samples else 0
        return {
            "nanoseconds": nanoseconds,
            "calls": calls,
            "wall_nanoseconds": wall,
            "untimed_nanoseconds": untimed,
            "preemptions": preemptions,
        }

    def cool(self, size):
        """Writes to every line of private memory, so that caches hold nothing else."""
        if len(self.cold) != size:
            self.cold = bytearray(size)
            self.pattern = bytes(len(range(0, size, LINE)))
        self.cold[::LINE] = self.pattern

    def deliver(self, result):
        """Copies what a function returned to the outputs; None says that it wrote them in place."""
        if result is None:
            return
        if not isinstance(result, dict):
            if len(self.outputs) != 1:
                raise Failed("the function returned one value for %d outputs; return a dict" % len(self.outputs))
            result = {name: result for name in self.outputs}
        for name, value in result.items():
            if name not in self.outputs:
                raise Failed("the function returned `%s`, which is no output" % name)
            copy_to(self.outputs[name], value, name)


class Mirror:
    """The shared memory's bytes again, on a device."""

    def __init__(self, torch, place, memory):
        self.host = torch.frombuffer(memory, dtype=torch.uint8)
        self.bytes = torch.empty(len(memory), dtype=torch.uint8, device=place)
        self.pinned = False
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

    def fetch(self, key, memory):
        mirror = self.mirror(key, memory)
        self.wait()
        mirror.host.copy_(mirror.bytes)
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


class Cuda(Device):
    """The first GPU that can be seen: copies from pinned memory, calls replayed from graphs, times by its events."""

    def __init__(self, torch):
        if not torch.cuda.is_available():
            raise Failed("PyTorch sees no GPU: %s" % no_gpu(torch))
        super().__init__(torch, "cuda")
        torch.cuda.set_device(0)
        self.graphs, self.eager = {}, False
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def pin(self, mirror):
        """Copies from and to pinned memory are several times as fast; without it they work all the same."""
        try:
            code = self.torch.cuda.cudart().cudaHostRegister(mirror.host.data_ptr(), len(mirror.host), 0)
            mirror.pinned = int(code) == 0
        except Exception:
            pass
        if not mirror.pinned:
            self.swallow()

    def unpin(self, mirror):
        self.wait()
        self.graphs = {key: run for key, run in self.graphs.items() if self.mirrors.get(key[0]) is not None}
        if mirror.pinned and int(self.torch.cuda.cudart().cudaHostUnregister(mirror.host.data_ptr())) != 0:
            self.swallow()

    def swallow(self):
        """The runtime reports an error once more at the next launch: this one."""
        try:
            self.torch.zeros(1, device=self.place).fill_(1)
        except RuntimeError:
            pass

    def forget_graphs(self):
        self.graphs, self.eager = {}, False

    def prepare(self, call, calls, key, outputs):
        if not self.eager and key not in self.graphs:
            run = self.capture(call, calls, outputs)
            if run is None:
                self.eager = True
            else:
                while len(self.graphs) >= GRAPHS:
                    del self.graphs[next(iter(self.graphs))]
                self.graphs[key] = run
        return super().prepare(call, calls, key, outputs) if self.eager else (self.graphs[key], True)

    def capture(self, call, calls, outputs):
        """A replay of these calls; None when they cannot be captured."""
        cuda = self.torch.cuda
        before = [output.clone() for output in outputs]
        graph, stream, result, why = cuda.CUDAGraph(), cuda.Stream(), None, ""
        try:
            cuda.synchronize()
            with cuda.stream(stream):
                for _ in range(WARM):
                    call()
                cuda.synchronize()
                # Freed in the middle of a capture, memory would end it.
                gc.collect()
                graph.capture_begin()
                try:
                    for _ in range(calls):
                        result = call()
                finally:
                    graph.capture_end()
            why = self.elsewhere(result)
        # Whatever is wrong with the function itself shows again when it is called plainly.
        except Exception as error:
            why = first_line(error)
        # The replay must find no answers that these calls left.
        cuda.synchronize()
        for output, old in zip(outputs, before):
            output.copy_(old)
        cuda.synchronize()
        if why:
            print("kiln: calls are launched one by one, not replayed from a graph: %s" % why, file=sys.stderr)
            return None

        def run():
            graph.replay()
            return result

        return run

    def elsewhere(self, result):
        """A graph computes again only what lies on the device."""
        values = list(result.values()) if isinstance(result, dict) else [] if result is None else [result]
        there = all(getattr(getattr(value, "device", None), "type", None) == self.place for value in values)
        return "" if there else "what the function returned is not on the GPU"

    def measure(self, run, graph):
        (start, stop), cuda = self.events, self.torch.cuda
        # A graph comes after the first event for certain, so while memory is prepared it can be put behind that. Plain
        # calls may use streams of their own, which would begin at once.
        if not graph:
            cuda.synchronize()
        begin = clock()
        start.record()
        result = run()
        stop.record()
        stop.synchronize()
        stopped = clock()
        cuda.synchronize()
        ended = clock()
        event = max(0, round(start.elapsed_time(stop) * 1e6))
        return result, of_graph(event, ended - stopped) if graph else of_calls(event, ended - begin)

    def wait(self):
        self.torch.cuda.synchronize()

    def cache(self):
        return getattr(self.torch.cuda.get_device_properties(0), "L2_cache_size", 0)

    def room(self):
        return self.torch.cuda.get_device_properties(0).total_memory // 5 * 2

    def wedged(self):
        """The error that every use of the device now ends with, if there is one."""
        try:
            self.torch.cuda.synchronize()
        except Exception as error:
            return error
        return None

    def describe(self):
        cuda = self.torch.cuda
        properties = cuda.get_device_properties(0)

        def told(*names):
            return next((getattr(properties, name) for name in names if hasattr(properties, name)), 0)

        uuid = str(told("uuid") or "")
        return {
            "name": properties.name,
            "uuid": uuid if not uuid or uuid.startswith("GPU-") else "GPU-" + uuid,
            "capability": [properties.major, properties.minor],
            "sms": properties.multi_processor_count,
            "memory": properties.total_memory,
            "memory_free": cuda.mem_get_info()[0],
            "l2": self.cache(),
            "smem_per_block": told("shared_memory_per_block_optin", "shared_memory_per_block"),
            "smem_per_sm": told("shared_memory_per_multiprocessor"),
            "registers_per_sm": told("regs_per_multiprocessor"),
            "threads_per_sm": told("max_threads_per_multi_processor"),
            # PyTorch does not tell.
            "driver": "",
            "cuda": self.torch.version.cuda or "",
            "state": {"throttled": []},
        }


def of_calls(event, waited):
    """A sample's time, of what its stream took and what the host waited for the whole device."""
    # Much later than its own stream: work went on where the events do not see it.
    hidden = waited > event * 1.2 + UNSEEN
    return waited if hidden else min(event, waited)


def of_graph(event, late):
    """A replay's time, with what went on after its end."""
    return event + late if late > UNSEEN else event


def no_gpu(torch):
    if torch.version.cuda is None:
        return "this PyTorch (%s) is built without CUDA" % torch.__version__
    try:
        torch.cuda.init()
    except Exception as error:
        return first_line(error)
    return "torch.cuda.is_available() is False"


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def is_of_device(error):
    """Whether PyTorch passes on an error of CUDA's."""
    return isinstance(error, RuntimeError) and "CUDA" in str(error)


def check_range(what, offset, size, length):
    if offset < 0 or size < 0 or offset + size > length:
        raise Failed("%s: %d bytes at offset %d lie outside the %d shared bytes" % (what, size, offset, length))


def check_restore(restore, calls, length):
    if restore and calls != 1:
        raise Failed("%d calls in a sample, but memory is put back before every call" % calls)
    for copy in restore:
        check_range("what is put back", copy["from"], copy["bytes"], length)
        check_range("what is put back", copy["to"], copy["bytes"], length)


def check_slot(slot, length):
    check_range("`%s`" % slot["name"], slot["offset"], slot["bytes"], length)
    if slot["dtype"] not in DTYPES:
        raise Failed("`%s`: unknown dtype %s" % (slot["name"], slot["dtype"]))
    wanted = BYTES.get(slot["dtype"], 1) * reach(slot)
    if slot["bytes"] != wanted:
        raise Failed("`%s`: %s%s needs %d bytes, not %d" % (
            slot["name"], slot["dtype"], slot["shape"], wanted, slot["bytes"]))


def count(slot):
    product = 1
    for size in slot["shape"]:
        product *= size
    return product


def reach(slot):
    """Elements from the first to the last, padding in between included."""
    if not slot.get("strides") or count(slot) == 0:
        return count(slot)
    return 1 + sum((size - 1) * stride for size, stride in zip(slot["shape"], slot["strides"]))


def numpy_array(memory, slot, read_only):
    dtype = DTYPES[slot["dtype"]][0]
    # NumPy has no such type; PyTorch may.
    if dtype is None:
        return torch_tensor(memory, slot, read_only)
    try:
        import numpy
    except ImportError:
        raise Failed("NumPy is not installed in %s; hint: %s -m pip install numpy" % (sys.executable, sys.executable))
    strides = slot.get("strides")
    if strides:
        strides = [stride * BYTES.get(slot["dtype"], 1) for stride in strides]
    array = numpy.ndarray(tuple(slot["shape"]), dtype, buffer=memory, offset=slot["offset"], strides=strides)
    array.flags.writeable = not read_only
    return array


def torch_tensor(memory, slot, _read_only):
    """PyTorch has no read-only tensors: the parent finds changed inputs."""
    try:
        import torch
    except ImportError:
        raise Failed("`%s` is %s, which needs PyTorch: not installed in %s" % (
            slot["name"], slot["dtype"], sys.executable))
    return tensor_in(torch.frombuffer(memory, dtype=torch.uint8), slot, _read_only)


def tensor_in(memory, slot, _read_only):
    """A tensor over bytes that are a tensor themselves."""
    import torch

    dtype = getattr(torch, DTYPES[slot["dtype"]][2], None)
    if dtype is None:
        raise Failed("`%s`: this PyTorch (%s) has no %s" % (slot["name"], torch.__version__, slot["dtype"]))
    if count(slot) == 0:
        return torch.empty(slot["shape"], dtype=dtype, device=memory.device)
    flat = memory[slot["offset"] : slot["offset"] + slot["bytes"]].view(dtype)
    return flat.as_strided(slot["shape"], slot["strides"]) if slot.get("strides") else flat.reshape(slot["shape"])


def uses_torch(module):
    return hasattr(vars(module).get("torch"), "frombuffer")


def uses_triton(module):
    """Whether a module of Triton's, or something out of one, is among the file's globals."""
    for value in list(vars(module).values()):
        names = getattr(value, "__name__", None), getattr(value, "__module__", None), type(value).__module__
        if any(isinstance(name, str) and name.split(".")[0] == "triton" for name in names):
            return True
    return False


def scalar(memory, slot):
    import struct

    letter = DTYPES[slot["dtype"]][1]
    raw = memory[slot["offset"] : slot["offset"] + slot["bytes"]]
    if letter is not None:
        return struct.unpack("=" + letter, raw)[0]
    if slot["dtype"] == "bf16":
        # The upper half of a 32-bit float.
        return struct.unpack("<f", b"\0\0" + (raw if sys.byteorder == "little" else raw[::-1]))[0]
    raise Failed("`%s`: a scalar cannot be %s" % (slot["name"], slot["dtype"]))


def copy_to(output, value, name):
    # Only what holds its elements: anything else might compute them here, off the clock.
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    is_tensor = torch is not None and type(value) is torch.Tensor
    is_array = numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic))
    if not (is_tensor or is_array or isinstance(value, (int, float))):
        raise Failed("the function returned %s for `%s`, not an array" % (type(value).__name__, name))
    shape = tuple(getattr(value, "shape", ()))
    if shape != tuple(output.shape):
        raise Failed("the function returned %s for `%s`, not %s" % (list(shape), name, list(output.shape)))
    if hasattr(output, "copy_"):
        output.copy_(value if is_tensor else torch.as_tensor(value))
    else:
        output[...] = value.detach().cpu().numpy() if is_tensor else value


def pin(cpus):
    """Keeps every thread there is to these processors; those started later inherit it."""
    try:
        for thread in os.listdir("/proc/self/task"):
            try:
                os.sched_setaffinity(int(thread), cpus)
            except ProcessLookupError:
                pass
    except (OSError, ValueError, OverflowError) as error:
        raise Failed("keeping to processors %s: %s" % (cpus, getattr(error, "strerror", None) or error))


def tie():
    """Asks the system to end this process with its parent, even in the middle of an endless loop."""
    try:
        import ctypes
        import signal

        set_parent_death_signal, set_child_subreaper = 1, 36
        prctl = ctypes.CDLL(None).prctl
        # Processes that a function starts and leaves stay findable below this one.
        prctl(set_child_subreaper, 1, 0, 0, 0)
        prctl(set_parent_death_signal, int(signal.SIGKILL), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def describe(error, path):
    """The last line of the traceback, with the place in the loaded file where there is one."""
    import traceback

    if isinstance(error, Failed):
        return str(error)
    last = traceback.format_exception_only(type(error), error)[-1].strip()
    if isinstance(error, SyntaxError) and error.filename:
        return "%s:%s: %s" % (error.filename, error.lineno, last)
    frames = traceback.extract_tb(error.__traceback__)
    places = [f for f in frames if f.filename == path]
    if is_of_device(error):
        # Advice on how to look for it follows; and where it was noticed says nothing, unless that is in the file.
        last = last.splitlines()[0]
    else:
        places = places or [f for f in frames if f.filename != "<string>"]
    return "%s:%s: %s" % (places[-1].filename, places[-1].lineno, last) if places else last


def serve():
    tie()
    # A crash in compiled code leaves the Python lines that led to it.
    faulthandler.enable()
    # The pipes under other numbers: what the function prints goes to standard error, and it reads nothing.
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def say(number, answer):
        answers.write(json.dumps({"id": number, "answer": answer}).encode() + b"\n")
        answers.flush()

    backend = Backend()
    say(0, {"ready": PROTOCOL})
    for line in questions:
        number = 0
        try:
            ask = json.loads(line)
            number = ask["id"]
            answer = backend.answer(ask)
        except Failed as failed:
            answer = {"failed": str(failed)}
        # Also what is meant to end a process: a function has no say in that.
        except BaseException as error:
            answer = {"failed": describe(error, backend.path)}
        say(number, answer)


if __name__ == "__main__":
    serve()
    # Threads a function has left behind are not waited for.
    os._exit(0)
