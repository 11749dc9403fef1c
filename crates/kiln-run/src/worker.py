"""The worker's side of the Python backend: loads a function, maps the shared memory, calls and times the function. The
last of five pieces, which begin with worker_tensors.py.

Answers questions on standard input, a socket, one JSON object a line, until it is closed. Nothing but the standard library is
needed to start; NumPy or PyTorch when tensors are mapped. The convention for functions:

    function(inputs, scalars, outputs, **config)

with dicts by argument name: inputs are read-only, outputs are written in place, an argument that is read and written is
in both. A function may instead return an array (one output) or a dict of arrays, which are then copied to the outputs,
off the clock: after the last sample, that one's. A file that has `torch` among its globals is given PyTorch tensors,
any other NumPy arrays. Loaded for the device, a file must have `torch` among its globals or import Triton; its tensors
lie on the GPU, in a mirror of the shared memory.
"""

import faulthandler
import gc
import json
import os
import sys
from functools import partial
from time import perf_counter_ns as clock

PROTOCOL = 4
LINE = 64
# Shared memories kept mapped, and mirrored on a device: a few however large they are, and more as long as all but the one in
# use stay within so many bytes.
FEW, MANY, MIRRORED = 8, 64, 4 << 30


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
        elif do == "confine":
            self.settle(ask.get("device", False))
        elif do == "load":
            self.load(ask["library"], ask["symbol"], ask.get("config") or {}, ask.get("device", False))
        elif do == "map":
            self.close(ask.get("gone", []))
            self.map(ask.get("arena"), ask["slots"], ask.get("elsewhere", False))
        elif do == "call":
            self.call()
        elif do == "upload":
            self.there(do).upload(self.key, self.memory, self.slots, ask["image"])
        elif do == "lay":
            self.there(do).lay(self.key, self.memory, ask["image"])
        elif do == "fetch":
            self.there(do).fetch(self.key, self.memory, ask.get("parts") or [])
        else:
            raise Failed("no such question: %s" % do)
        return "done"

    def settle(self, device):
        """What must come before this process is confined."""
        if device:
            try:
                self.opened = self.opened or self.open(self.torch())
            except Exception:
                # Loading needs it too, and says what is wrong with the file first.
                pass

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

    def map(self, descriptor, slots, elsewhere=False):
        import mmap

        if descriptor is None:
            raise Failed("no shared memory came with the question")
        status = os.fstat(descriptor)
        # Sure while it is mapped: until then no other file can be given its number.
        key = (status.st_dev, status.st_ino, status.st_size)
        memory = self.arenas.get(key) or mmap.mmap(descriptor, 0)
        for slot in slots:
            # A function in Python has no use for descriptors.
            if slot["role"] != "tensormap":
                check_slot(slot, len(memory))
        self.arenas.pop(key, None)
        self.arenas[key] = memory
        self.memory, self.key, self.slots = memory, key, slots
        self.inputs, self.outputs = {}, {}
        if elsewhere and self.opened is not None:
            self.opened.move(key)
        while self.too_many():
            self.drop(next(iter(self.arenas)))
        if self.module is not None:
            self.bind()

    def too_many(self):
        if self.opened is None:
            return len(self.arenas) > 1
        count, others = len(self.arenas), sum(size for _, _, size in self.arenas) - self.key[2]
        return count > MANY or (count > FEW and others > min(MIRRORED, self.opened.room() // 4))

    def drop(self, key):
        if self.opened is not None:
            self.opened.forget(key)
        del self.arenas[key]

    def close(self, numbers):
        """Lets go of memories that the parent does not use any more."""
        for key in [key for key in self.arenas if key[1] in numbers]:
            if key == self.key:
                self.memory = self.key = None
                self.inputs, self.outputs = {}, {}
            self.drop(key)

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
        check_plan(calls, restore, flush, len(self.memory))
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
        check_plan(calls, restore, flush, len(memory))
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


def check_plan(calls, restore, flush, length):
    if restore and calls != 1:
        raise Failed("%d calls in a sample, but memory is put back before every call" % calls)
    if flush and calls > 1:
        raise Failed("%d calls in a sample, but caches are cooled before every call" % calls)
    for copy in restore:
        check_range("what is put back", copy["from"], copy["bytes"], length)
        check_range("what is put back", copy["to"], copy["bytes"], length)


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


class Questions:
    """Questions, a line each, and the files that came with them."""

    def __init__(self, channel):
        self.channel, self.unread, self.files = channel, b"", []

    def __iter__(self):
        import socket

        room = socket.CMSG_SPACE(4)
        while True:
            line, end, rest = self.unread.partition(b"\n")
            if end:
                self.unread = rest
                yield line
                continue
            data, beside, _, _ = self.channel.recvmsg(1 << 16, room, socket.MSG_CMSG_CLOEXEC)
            for level, kind, content in beside:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self.files.append(int.from_bytes(content[:4], sys.byteorder))
            if not data:
                return
            self.unread += data

    def file(self):
        """The last file that came; it is the caller's to close."""
        return self.files.pop() if self.files else None


def confined(rules, channel):
    """Confines this process, and hands the parent the means to see which call it is held at."""
    import socket

    achieved, listener = confine(rules)
    if listener is not None:
        channel.sendmsg([b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))])
        os.close(listener)
    return {"confined": achieved}


def serve():
    import socket

    tie()
    # A crash in compiled code leaves the Python lines that led to it.
    faulthandler.enable()
    # The pipes under other numbers: what the function prints goes to standard error, and it reads nothing.
    channel, answers = socket.socket(fileno=os.dup(0)), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def say(number, answer):
        answers.write(json.dumps({"id": number, "answer": answer}).encode() + b"\n")
        answers.flush()

    backend, questions = Backend(), Questions(channel)
    say(0, {"ready": PROTOCOL})
    for line in questions:
        number, file = 0, questions.file()
        try:
            ask = json.loads(line)
            number = ask["id"]
            answer = backend.answer(dict(ask, arena=file))
            if ask["do"] == "confine":
                answer = confined(ask, channel)
        except Failed as failed:
            answer = {"failed": str(failed)}
        # Also what is meant to end a process: a function has no say in that.
        except BaseException as error:
            answer = {"failed": describe(error, backend.path)}
        if file is not None:
            os.close(file)
        say(number, answer)


if __name__ == "__main__":
    serve()
    # Threads a function has left behind are not waited for.
    os._exit(0)
