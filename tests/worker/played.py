"""A GPU played by the processor, for the Python worker's device code: PyTorch with events and graphs that do what a test says,
memory as a keeper lends it, and the worker's own program, whose pieces the command line names in order."""

import contextlib
import os
import pathlib
import struct
import sys
import tempfile
import types

import torch

worker = types.ModuleType("worker")
program = "\n".join(pathlib.Path(piece).read_text("utf-8") for piece in sys.argv[1:])
exec(compile(program, "<string>", "exec"), vars(worker))

N = 16
X, Y, SCALE, SIZE = 4096, 8192, 12288, 16384
# What is put on the stream, in order.
STREAM = []
KEEPER = tempfile.TemporaryDirectory()
FOLDER = KEEPER.name


class Kept:
    """Memory with x, y and a scalar, as a keeper lends it: so many sets, the first of which begins at a page of its own."""

    everybody, BEGIN, STRIDE = {}, 4096, SIZE + 4096

    def __init__(self, sets=1, scale=2.0):
        self.memory = torch.zeros(self.BEGIN + sets * self.STRIDE, dtype=torch.uint8)
        self.sets, self.scale = sets, scale
        self.handle = "%0128x" % (len(self.everybody) + 1)
        self.everybody[self.handle] = self
        for number in range(sets):
            self.put(X, struct.pack("=16f", *range(N)), number)

    def lent(self):
        return {"handle": self.handle, "offset": self.BEGIN, "bytes": SIZE, "stride": self.STRIDE}

    def put(self, offset, data, number=0):
        at = self.BEGIN + number * self.STRIDE + offset
        self.memory[at : at + len(data)] = torch.frombuffer(bytearray(data), dtype=torch.uint8)

    def at(self, offset, number=0):
        at = self.BEGIN + number * self.STRIDE + offset
        return list(struct.unpack("=16f", bytes(self.memory[at : at + 64].tolist())))

    def y(self, number=0):
        return self.at(Y, number)

    def slots(self, role="out"):
        arguments = [
            ("x", X, [N], "in", 64),
            ("y", Y, [N], role, 64),
            ("scale", SCALE, [], "scalar", 4),
            ("map", 0, [N], "tensormap", 0),
        ]
        names = ("name", "offset", "shape", "role", "bytes")
        return [dict(zip(names, argument), dtype="f32") for argument in arguments]

    def map(self, backend, role="out"):
        ask(backend, "map", lent=self.lent(), slots=self.slots(role), sets=self.sets)
        self.tell(backend, self.scale)

    def tell(self, backend, scale):
        assert ask(backend, "scalars", values=[[SCALE, list(struct.pack("=f", scale))]]) == "done"


def lends(device):
    """A device that is lent what is kept here, and knows what it has given back."""
    device.closed = []
    device.open = lambda lent, size: worker.Mirror(lent, Kept.everybody[lent["handle"]].memory[:size])
    device.close = lambda mirror: device.closed.append(mirror.handle)
    return device


def plain():
    """A device without anything of a GPU's."""
    return lends(worker.Device(torch, "cpu"))


class Event:
    """Takes as long as the test says, for every test knows what it waits for."""

    took = 0.0

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        STREAM.append("event")

    def synchronize(self):
        pass

    def elapsed_time(self, _other):
        return Event.took


class Graph:
    """Records nothing: replays what the test says the function launches."""

    made, replay_of = 0, None
    capturing = False

    def capture_begin(self):
        Graph.made, Graph.capturing = Graph.made + 1, True

    def capture_end(self):
        Graph.capturing = False

    def replay(self):
        STREAM.append("graph")
        Graph.replay_of()


class KeptGraph(Graph):
    """One whose recording can be looked at, as PyTorch has them since 2.8: it must be made ready before it is replayed."""

    def __init__(self, keep_graph=False):
        self.keep_graph, self.ready = keep_graph, not keep_graph

    def instantiate(self):
        assert self.keep_graph and not self.ready
        self.ready = True

    def raw_cuda_graph(self):
        return 1

    def replay(self):
        assert self.ready
        super().replay()


class Library:
    """A driver that knows recorded graphs, by their handles: lists of nodes, each a kind and what it launches or holds. A
    kernel is known by its function or, in brackets, by its other handle."""

    def __init__(self, without=()):
        self.graphs, self.nodes, self.handles, self.asked = {}, {}, {}, []
        for name in ("cuGraphGetNodes", "cuGraphNodeGetType", "cuGraphKernelNodeGetParams_v2",
                     "cuGraphChildGraphNodeGetGraph", "cuFuncGetName", "cuKernelGetName"):
            if name not in without:
                # A call of a library has attributes of its own.
                setattr(self, name, lambda *arguments, call=getattr(self, "_" + name): call(*arguments))

    def record(self, handle, *nodes):
        self.graphs[handle] = []
        for node in nodes:
            number = 100 + len(self.nodes)
            self.nodes[number] = node
            self.graphs[handle].append(number)

    def _cuGraphGetNodes(self, graph, nodes, count):
        if graph not in self.graphs:
            return 1
        count._obj.value = len(self.graphs[graph])
        if nodes is not None:
            nodes[:] = self.graphs[graph]
        return 0

    def _cuGraphNodeGetType(self, node, kind):
        kind._obj.value = self.nodes[node][0]
        return 0

    def _cuGraphKernelNodeGetParams_v2(self, node, launch):
        name = self.nodes[node][1]
        handle = self.handles.setdefault(name, 1000 + len(self.handles))
        setattr(launch._obj, "kernel" if name.startswith("(") else "function", handle)
        return 0

    def _cuGraphChildGraphNodeGetGraph(self, node, graph):
        graph._obj.value = self.nodes[node][1]
        return 0

    def named(self, name, handle, other):
        self.asked.append(handle)
        found = next(known for known, number in self.handles.items() if number == handle)
        if found.startswith("(") != other:
            return 1
        name._obj.value = found.strip("()").encode()
        return 0

    def _cuFuncGetName(self, name, handle):
        return self.named(name, handle, False)

    def _cuKernelGetName(self, name, handle):
        return self.named(name, handle, True)


class Played:
    """PyTorch with a GPU that is the processor."""

    def __init__(self, available=True, cuda="13.0", sleeps=True, graph=Graph, **told):
        self.broken = None
        # Nothing compiled for a GPU.
        self._C = types.SimpleNamespace()
        self.version = types.SimpleNamespace(cuda=cuda)
        self.__version__ = "2.11"
        self.cuda = types.SimpleNamespace(
            is_available=lambda: available, init=self.init, set_device=lambda number: None, Event=Event,
            CUDAGraph=graph, Stream=lambda: None, stream=lambda stream: contextlib.nullcontext(),
            synchronize=self.synchronize, get_device_properties=lambda number: self.properties(),
            mem_get_info=lambda: (5, 10))
        if sleeps:
            self.cuda._sleep = lambda cycles: STREAM.append(cycles)
        self.told = told

    def __getattr__(self, name):
        return getattr(torch, name)

    def init(self):
        raise RuntimeError("No CUDA GPUs are available\nand advice")

    def synchronize(self):
        if self.broken:
            raise self.broken

    def properties(self):
        return types.SimpleNamespace(
            name="H", uuid="ab", major=9, minor=0, multi_processor_count=132, total_memory=80 << 30,
            L2_cache_size=60 << 20,
            shared_memory_per_block=49152, shared_memory_per_block_optin=232448,
            shared_memory_per_multiprocessor=233472, regs_per_multiprocessor=65536,
            max_threads_per_multi_processor=2048, **self.told)


def played(library=None, **how):
    """The GPU's own code, with tensors where there is room for them, and no driver, or one that knows recorded graphs."""
    worker.Driver = lambda: library and types.SimpleNamespace(names=worker.namer(library))
    device = worker.Cuda(Played(**how))
    device.place = "cpu"
    # Without a driver nobody gives memory out to other processes.
    device.lie = lambda value: None
    return lends(device)


def subject(text, device):
    backend = worker.Backend()
    backend.open = lambda torch: device
    path = os.path.join(FOLDER, "subject_%d.py" % len(os.listdir(FOLDER)))
    pathlib.Path(path).write_text(text)
    load(backend, path)
    return backend, path


def load(backend, path):
    assert backend.answer({"do": "load", "library": path, "symbol": "f", "device": True}) == "done"


def ask(backend, do, **rest):
    return backend.answer(dict(rest, do=do))


def failed(words, backend, do, **rest):
    try:
        ask(backend, do, **rest)
    except worker.Failed as why:
        assert words in str(why), why
    else:
        raise AssertionError("%s did not fail" % do)


def doubled(scale=2.0):
    return [scale * i for i in range(N)]


IN_PLACE = """
import torch
def f(inputs, scalars, outputs):
    torch.mul(inputs["x"], scalars["scale"], out=outputs["y"])
"""
RETURNS = "import torch\ndef f(inputs, scalars, outputs): return inputs['x'] * scalars['scale']\n"
ADDS = "import torch\ndef f(inputs, scalars, outputs): outputs['y'].add_(inputs['x'])\n"
