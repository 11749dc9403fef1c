"""The worker's side of the Python backend: loads a function, maps the shared memory, calls and times the function.

Answers questions on standard input, one JSON object a line, until it is closed. Nothing but the standard library is
needed to start; NumPy or PyTorch when tensors are mapped. The convention for functions:

    function(inputs, scalars, outputs, **config)

with dicts by argument name: inputs are read-only, outputs are written in place, an argument that is read and written is
in both. A function may instead return an array (one output) or a dict of arrays, which are then copied to the outputs,
off the clock: after the last sample, that one's. A file that has `torch` among its globals is given PyTorch tensors, any other NumPy arrays.
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
        self.module = self.function = self.memory = None
        self.path = ""
        self.config = {}
        self.slots = []
        self.inputs, self.outputs = {}, {}
        self.cold = bytearray()
        self.loads = 0

    def answer(self, ask):
        do = ask["do"]
        if do == "time":
            return {"times": self.time(ask["samples"], ask["calls"], ask.get("restore", []), ask.get("flush", 0))}
        if do == "pin":
            pin(ask["cpus"])
        elif do == "load":
            self.load(ask["library"], ask["symbol"], ask.get("config") or {})
        elif do == "map":
            self.map(ask["arena"], ask["slots"])
        elif do == "call":
            self.deliver(self.ready()())
        else:
            raise Failed("no such question: %s" % do)
        return "done"

    def load(self, path, symbol, config):
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
        self.module, self.function, self.config = module, function, dict(config)
        if self.memory is not None:
            self.bind()

    def map(self, path, slots):
        import mmap

        descriptor = os.open(path, os.O_RDWR)
        try:
            memory = mmap.mmap(descriptor, 0)
        finally:
            os.close(descriptor)
        for slot in slots:
            check_slot(slot, len(memory))
        self.memory, self.slots = memory, slots
        if self.module is not None:
            self.bind()

    def bind(self):
        """Makes arrays over the shared memory, of the kind the loaded file works with."""
        self.inputs, self.outputs = {}, {}
        torch = vars(self.module).get("torch")
        make = torch_tensor if hasattr(torch, "frombuffer") else numpy_array
        for slot in self.slots:
            role = slot["role"]
            if role in ("in", "out", "inout"):
                array = make(self.memory, slot, role == "in")
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
        scalars = {s["name"]: scalar(self.memory, s) for s in self.slots if s["role"] == "scalar"}
        function, inputs, outputs, config = self.function, self.inputs, self.outputs, self.config
        # The function's own dicts, for it may change them; and nothing of ours on the clock.
        return partial(function, dict(inputs), scalars, dict(outputs), **config)

    def time(self, samples, calls, restore, flush):
        call = self.ready()
        if restore and calls != 1:
            raise Failed("%d calls in a sample, but memory is put back before every call" % calls)
        memory = memoryview(self.memory)
        for copy in restore:
            check_range("what is put back", copy["from"], copy["bytes"], len(memory))
            check_range("what is put back", copy["to"], copy["bytes"], len(memory))
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


def check_range(what, offset, size, length):
    if offset < 0 or size < 0 or offset + size > length:
        raise Failed("%s: %d bytes at offset %d lie outside the %d shared bytes" % (what, size, offset, length))


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
    dtype = getattr(torch, DTYPES[slot["dtype"]][2], None)
    if dtype is None:
        raise Failed("`%s`: this PyTorch (%s) has no %s" % (slot["name"], torch.__version__, slot["dtype"]))
    if count(slot) == 0:
        return torch.empty(slot["shape"], dtype=dtype)
    # Some dtypes cannot be made from a buffer, but all can be seen as another of the same size.
    plain = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[BYTES.get(slot["dtype"], 1)]
    flat = torch.frombuffer(memory, dtype=plain, count=reach(slot), offset=slot["offset"]).view(dtype)
    return flat.as_strided(slot["shape"], slot["strides"]) if slot.get("strides") else flat.reshape(slot["shape"])


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

    last = traceback.format_exception_only(type(error), error)[-1].strip()
    if isinstance(error, SyntaxError) and error.filename:
        return "%s:%s: %s" % (error.filename, error.lineno, last)
    frames = traceback.extract_tb(error.__traceback__)
    places = [f for f in frames if f.filename == path] or [f for f in frames if f.filename != "<string>"]
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
