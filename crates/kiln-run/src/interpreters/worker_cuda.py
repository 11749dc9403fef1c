"""The worker's third piece: the first GPU that can be seen, by way of PyTorch.

Calls that can be captured are replayed from graphs and timed by the GPU's events, others are launched one by one. The
kernels that a graph launches are reported by name, where PyTorch and the driver show them. Refuses to open when PyTorch sees no GPU.
"""

import gc
import sys
from functools import partial
from time import perf_counter_ns as clock

# Graphs kept captured.
GRAPHS = 4
# Calls before a capture: what a function sets up on its first calls cannot be captured.
WARM = 3
# Nanoseconds in which a host notices that a device is idle.
UNSEEN = 50_000
# Nanoseconds in which a host puts a graph and its events on a stream, however long it was idle.
HOLD = 150_000
# A device's clock in kHz where PyTorch does not tell it: rather too fast, which makes the hold longer.
FAST = 2_000_000
# Kinds of nodes in a graph: kernels, graphs in graphs, what is launched on a condition, and what the driver does itself.
KERNEL, CHILD, CONDITIONAL = 0, 4, 13
BY_THE_DRIVER = {1: "[memcpy]", 2: "[memset]"}


class Cuda(Device):
    """The first GPU that can be seen: copies from pinned memory, calls replayed from graphs, times by its events."""

    def __init__(self, torch):
        if not torch.cuda.is_available():
            raise Failed("PyTorch sees no GPU: %s" % no_gpu(torch))
        super().__init__(torch, "cuda")
        torch.cuda.set_device(0)
        # PyTorch makes its context when it is first needed; what is lent is mapped into that.
        torch.cuda.synchronize()
        self.graphs, self.eager = {}, False
        self.driver, self.tensor = Driver(), over(torch)
        self.copy_all = getattr(torch, "_foreach_copy_", None)
        self.sleep = getattr(getattr(torch, "_C", None), "_cuda_sleep", None) or getattr(torch.cuda, "_sleep", None)
        self.synchronize = getattr(getattr(torch, "_C", None), "_cuda_synchronize", None) or torch.cuda.synchronize
        self.stream, self.on = torch.cuda.Stream, torch.cuda.stream
        self.graph, self.finish, self.raw = recorders(torch.cuda.CUDAGraph)
        self.names = getattr(self.driver, "names", None) if self.raw else None
        self.replay = method(torch.cuda.CUDAGraph, "replay")
        self.measure = self.stopwatch()
        self.cycles = HOLD * (getattr(torch.cuda.get_device_properties(0), "clock_rate", 0) or FAST) // 1_000_000

    def open(self, lent, size):
        """A tensor over the memory of another process."""
        handle, address = self.driver.handle(bytes.fromhex(lent["handle"])), self.driver.address()
        self.check("cuIpcOpenMemHandle", self.driver.open(self.driver.byref(address), handle, 1))
        return Mirror(lent, self.tensor(address.value, size), address.value)

    def close(self, mirror):
        self.check("cuIpcCloseMemHandle", self.driver.close(self.driver.address(mirror.address)))

    def copy(self, pairs):
        """All at once where that works: one launch instead of many."""
        tensor = self.torch.Tensor
        if self.copy_all is None or any(type(value) is not tensor for _, value in pairs):
            super().copy(pairs)
        elif pairs:
            self.copy_all([output for output, _ in pairs], [value.detach() for _, value in pairs])

    def check(self, call, code):
        if code != 0:
            raise Failed("%s: error %d of CUDA" % (call, code), "running")

    def watch(self, on):
        profiler = self.torch.cuda.profiler
        profiler.start() if on else profiler.stop()

    def forget_graphs(self):
        self.graphs, self.eager = {}, False

    def prepare(self, row, key, outputs):
        if not self.eager and key not in self.graphs:
            run = self.capture(row, outputs)
            if run is None:
                self.eager = True
            else:
                while len(self.graphs) >= GRAPHS:
                    del self.graphs[next(iter(self.graphs))]
                self.graphs[key] = run
        return super().prepare(row, key, outputs) if self.eager else (self.graphs[key], True)

    def capture(self, row, outputs):
        """A replay of these calls; None when they cannot be captured."""
        before = [output.clone() for output in outputs]
        graph, stream, results, names, why = self.graph(), self.stream(), [], [], ""
        try:
            self.wait()
            with self.on(stream):
                for _ in range(WARM):
                    row[0]()
                self.wait()
                # Freed in the middle of a capture, memory would end it. Collecting before would be as good, but with
                # all that PyTorch has loaded takes longer than everything else here.
                collecting = gc.isenabled()
                gc.disable()
                graph.capture_begin()
                try:
                    results = in_a_row(row)
                finally:
                    graph.capture_end()
                    if collecting:
                        gc.enable()
            why = next(filter(None, map(self.elsewhere, results)), "")
            if not why:
                self.finish(graph)
                names = self.kernels(graph)
                # The first replay brings the graph to the device, which no sample shall pay for.
                self.replay(graph)
        # Whatever is wrong with the function itself shows again when it is called plainly.
        except Exception as error:
            why = first_line(error)
        # The replay must find no answers that these calls left.
        self.wait()
        for output, old in zip(outputs, before):
            output.copy_(old)
        self.wait()
        if why:
            print("kiln: calls are launched one by one, not replayed from a graph: %s" % why, file=sys.stderr)
            return None
        replay = self.replay

        def run():
            replay(graph)
            return results

        run.kernels, run.results, run.number = names, results, None
        return run

    def lie(self, value):
        """The handle of the memory a tensor is in, for another process, and where in it; None where it cannot be given out."""
        return self.driver.lie(value.data_ptr())

    def kernels(self, graph):
        """The names of the kernels that a graph launches; none where nobody shows them."""
        try:
            return self.names(self.raw(graph)) if self.names else []
        except Exception:
            return []

    def elsewhere(self, result):
        """A graph computes again only what lies on the device."""
        values = list(result.values()) if isinstance(result, dict) else [] if result is None else [result]
        there = all(getattr(getattr(value, "device", None), "type", None) == self.place for value in values)
        return "" if there else "what the function returned is not on the GPU"

    def stopwatch(self):
        """What times a sample, of names that no function's file can exchange any more."""
        event, now, late, plain = self.torch.cuda.Event, clock, of_graph, of_calls
        start, stop = (event(enable_timing=True) for _ in range(2))
        begin, end = recorder(self.torch, start), recorder(self.torch, stop)
        reached, elapsed = method(type(stop), "synchronize"), method(type(start), "elapsed_time")
        wait, hold = self.synchronize, self.hold

        def measure(run, graph):
            # A graph comes after the first event for certain, so while memory is prepared it can be put behind that.
            # Plain calls may use streams of their own, which would begin at once.
            if graph:
                hold()
            else:
                wait()
            began = now()
            begin()
            result = run()
            end()
            reached(stop)
            stopped = now()
            wait()
            ended = now()
            event = max(0, round(elapsed(start, stop) * 1e6))
            return result, late(event, ended - stopped) if graph else plain(event, ended - began)

        return measure

    def hold(self):
        """Keeps the stream busy: a GPU that is at the first event before its graph is there waits on the clock."""
        if self.sleep is not None:
            self.sleep(self.cycles)

    def wait(self):
        self.synchronize()

    def wedged(self):
        """The error that every use of the device now ends with, if there is one."""
        try:
            self.wait()
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
            "l2": told("L2_cache_size"),
            "smem_per_block": told("shared_memory_per_block_optin", "shared_memory_per_block"),
            "smem_per_sm": told("shared_memory_per_multiprocessor"),
            "registers_per_sm": told("regs_per_multiprocessor"),
            "threads_per_sm": told("max_threads_per_multi_processor"),
            # PyTorch does not tell.
            "driver": "",
            "cuda": self.torch.version.cuda or "",
            "state": {"throttled": []},
        }


class Driver:
    """What is called of CUDA's driver, which PyTorch has loaded."""

    def __init__(self):
        import ctypes

        class Handle(ctypes.Structure):
            _fields_ = [("bytes", ctypes.c_ubyte * 64)]

        library = ctypes.CDLL("libcuda.so.1")
        self.open, self.close = library.cuIpcOpenMemHandle_v2, library.cuIpcCloseMemHandle
        self.open.argtypes = [ctypes.c_void_p, Handle, ctypes.c_uint]
        self.close.argtypes = [ctypes.c_uint64]
        self.address, self.byref = ctypes.c_uint64, ctypes.byref
        self.handle = Handle.from_buffer_copy
        around, give = library.cuMemGetAddressRange_v2, library.cuIpcGetMemHandle
        around.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
        give.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        address, size, pointer = ctypes.c_uint64, ctypes.c_size_t, ctypes.byref

        def lie(place):
            begin, length, handle = address(), size(), Handle()
            if around(pointer(begin), pointer(length), place) or give(pointer(handle), begin):
                return None
            return bytes(handle.bytes).hex(), place - begin.value

        self.lie = lie
        self.names = namer(library)


def recorders(kind):
    """What makes a graph, what makes a recorded one ready, and what gives its handle: None where PyTorch cannot."""
    try:
        kind(keep_graph=True)
        return partial(kind, keep_graph=True), method(kind, "instantiate"), method(kind, "raw_cuda_graph")
    except Exception:
        # PyTorch before 2.8 makes it ready when it ends the capture, and gives the recording up.
        return kind, lambda graph: None, None


def namer(library):
    """What names the kernels of a recorded graph, by its handle: each once, in order. None where the driver cannot."""
    import ctypes

    class Launch(ctypes.Structure):
        _fields_ = [
            ("function", ctypes.c_void_p), ("sizes", ctypes.c_uint * 7), ("arguments", ctypes.c_void_p),
            ("extra", ctypes.c_void_p), ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]

    calls = ("cuGraphGetNodes", "cuGraphNodeGetType", "cuGraphKernelNodeGetParams_v2", "cuGraphChildGraphNodeGetGraph",
             "cuFuncGetName", "cuKernelGetName")
    try:
        get_nodes, get_type, get_launch, get_child, name_function, name_kernel = (getattr(library, c) for c in calls)
    except AttributeError:
        return None
    get_nodes.argtypes = [ctypes.c_void_p] * 3
    for call in (get_type, get_launch, get_child, name_function, name_kernel):
        call.argtypes = [ctypes.c_void_p] * 2
    pointer, reference, number, count, text = (
        ctypes.c_void_p, ctypes.byref, ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p)

    def ask(call, *arguments):
        code = call(*arguments)
        if code != 0:
            raise Failed("error %d of CUDA" % code)

    def nodes_of(graph):
        size = count()
        ask(get_nodes, graph, None, reference(size))
        nodes = (pointer * size.value)()
        ask(get_nodes, graph, nodes, reference(size))
        return nodes[: size.value]

    def launched(node, known):
        launch = Launch()
        ask(get_launch, node, reference(launch))
        key = launch.function or launch.kernel
        if key not in known:
            name = text()
            # Of the two handles one may be missing.
            ask(name_function if launch.function else name_kernel, reference(name), key)
            known[key] = name.value.decode("utf-8", "replace")
        return known[key]

    def walk(graph, known, found):
        for node in nodes_of(graph):
            kind = number()
            ask(get_type, node, reference(kind))
            if kind.value == CONDITIONAL:
                raise Failed("what a condition launches is not shown")
            if kind.value == CHILD:
                child = pointer()
                ask(get_child, node, reference(child))
                walk(child.value, known, found)
            elif kind.value == KERNEL:
                found[launched(node, known)] = True
            elif kind.value in BY_THE_DRIVER:
                found[BY_THE_DRIVER[kind.value]] = True

    def names(graph):
        found = {}
        walk(graph, {}, found)
        return list(found)

    return names


def over(torch):
    """What makes a tensor of bytes over an address on the device, by the exchange format of array libraries."""
    import ctypes

    class Kind(ctypes.Structure):
        _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]

    class Place(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int32), ("number", ctypes.c_int32)]

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("place", Place), ("dimensions", ctypes.c_int32), ("kind", Kind),
            ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
            ("offset", ctypes.c_uint64)]

    class Managed(ctypes.Structure):
        _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("delete", ctypes.c_void_p)]

    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    take, kept = torch.utils.dlpack.from_dlpack, []

    def tensor(address, size):
        shape = (ctypes.c_int64 * 1)(size)
        cuda, unsigned = 2, 1
        described = Managed(Tensor(address, Place(cuda, 0), 1, Kind(unsigned, 8, 1), shape, None, 0), None, None)
        # PyTorch reads the description for as long as there is a tensor of it.
        kept.append((described, shape))
        return take(capsule(ctypes.addressof(described), b"dltensor", None))

    return tensor


def method(kind, name):
    """A method as it is now, of the compiled class where there is one."""
    for base in kind.__mro__:
        if base.__module__.startswith("torch._C") and name in vars(base):
            return getattr(base, name)
    return getattr(kind, name)


def recorder(torch, event):
    """What puts an event on the stream that is in use now."""
    record = method(type(event), "record")
    if record is getattr(type(event), "record"):
        return partial(record, event)
    return partial(record, event, torch.cuda.current_stream())


def of_calls(event, waited):
    """A sample's time, of what its stream took and what the host waited for the whole device."""
    # Much later than its own stream: work went on where the events do not see it.
    hidden = waited > event * 1.2 + UNSEEN
    return waited if hidden else min(event, waited)


def of_graph(event, late):
    """A replay's time, with what went on after its end. The hold is over before it begins, so it is in neither."""
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
