"""The worker's sixth piece: loads a function, maps the shared memory, calls and times the function. The convention for
functions:

    function(inputs, scalars, outputs, **config)

with dicts by argument name: inputs are read-only, outputs are written in place, an argument that is read and written is
in both. A function may instead return an array (one output) or a dict of arrays. Plain arrays with memory of their own
hold their elements when the function returns, and are read where they lie; of anything else (views, broadcasts) the
elements are copied on the clock. Every timed call has arguments of its own. A file that has `torch` among its globals is
given PyTorch tensors, any other NumPy arrays. Loaded for the device, a file must have `torch` among its globals or import
Triton; its tensors lie on the GPU, in memory that another process keeps and lends.
"""

import gc
import os
import sys
from functools import partial
from time import perf_counter_ns as clock

PAGE = 4096


class Backend(Answers):
    def __init__(self):
        self.module = self.function = self.memory = self.key = None
        # The values of scalars, by their offsets, where no shared memory holds them.
        self.values = {}
        # The device that was opened, and the same again while a function is loaded for it.
        self.opened = self.device = None
        self.broken = ""
        self.path = ""
        self.config = {}
        self.slots, self.sets, self.stride = [], 1, 0
        self.inputs, self.outputs, self.written = {}, {}, {}
        # Arguments of every set, once they are needed, and whether calls return what must be copied on the clock.
        self.bound, self.copies, self.prepared, self.has_scalars = [], None, None, False
        # A sample that is ready to run again, and for what; and what the last one returned.
        self.armed = self.left = None
        self.loads = 0
        # Recorded rows are numbered, and the parent was told where those leave their answers.
        self.rows, self.said = 0, set()
        # What is loaded, to be known again.
        self.loaded = None
        # What it takes to compile ahead, in a process that does nothing else.
        self.ahead = None

    def answer(self, ask):
        if self.broken:
            raise Failed(self.broken, "running")
        try:
            return self.attempt(ask)
        except Exception as error:
            # After some errors a device does nothing more for this process.
            why = self.opened and self.opened.wedged()
            if not why:
                raise
            self.broken = describe(error if is_of_device(error) else why, self.path)
            raise Failed(self.broken, "running")

    def attempt(self, ask):
        do = ask["do"]
        if do == "time":
            batches, calls = ask["batches"], ask["calls"]
            if self.device is None:
                return {"times": self.time(batches, calls)}
            return {"times": self.time_there(batches, calls)}
        if do == "go":
            return {"times": self.go(ask.get("returned", False), ask.get("copy", False))}
        if do == "compile":
            return {"compiled": compile_ahead(self, ask)}
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
            sets, stride = ask.get("sets", 1), ask.get("stride", 0)
            if ask.get("lent"):
                self.borrow(ask["lent"], ask["slots"], sets)
            else:
                self.map(ask.get("arena"), ask["slots"], sets, stride)
        elif do == "call":
            self.call()
        elif do == "call_apart":
            self.call_apart(ask.get("blank", False))
        elif do == "call_watched":
            self.call_watched()
        elif do == "prepare":
            self.prepare(ask["order"])
        elif do == "scalars":
            self.values = {offset: bytes(value) for offset, value in ask["values"]}
        elif do == "release":
            self.release()
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

        if not path:
            # What is called where only the cost of everything around is asked for.
            self.module, self.function, self.config, self.armed, self.loaded = sys, nothing, {}, None, None
            if device:
                self.opened = self.opened or self.open(self.torch())
                self.device, self.function = self.opened, self.opened.nothing()
            if self.memory is not None:
                self.bind()
            return
        if not os.path.isfile(path):
            raise Failed("%s: no such file" % path)
        status = os.stat(path)
        wanted = (os.path.abspath(path), status.st_mtime_ns, status.st_size, symbol, repr(sorted(config.items())), device)
        if wanted == self.loaded:
            # Some files can be loaded only once by a process: those that register operators, for instance.
            self.armed = None
            if self.opened is not None:
                self.opened.forget_graphs()
            if self.memory is not None:
                self.bind()
            return
        self.loaded = None
        self.module, self.function, self.path, self.copies = None, None, os.path.abspath(path), None
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
        self.armed = None
        self.module, self.function, self.config, self.loaded = module, function, dict(config), wanted
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

    def map(self, descriptor, slots, sets, stride):
        import mmap

        if descriptor is None:
            raise Failed("no shared memory came with the question")
        status = os.fstat(descriptor)
        # Sure while it is mapped: until then no other file can be given its number.
        key = (status.st_dev, status.st_ino, status.st_size)
        memory = self.memory if key == self.key else mmap.mmap(descriptor, 0)
        for slot in slots:
            # A function in Python has no use for descriptors.
            if slot["role"] != "tensormap":
                check_slot(slot, len(memory) - (sets - 1) * stride)
        self.hold(memory, key, slots, sets, stride)

    def borrow(self, lent, slots, sets):
        """Takes memory on the device that another process lends."""
        if self.device is None:
            raise Failed("memory is lent on a device, and no function is loaded for one")
        self.release()
        for slot in slots:
            if slot["role"] not in ("tensormap", "scalar"):
                check_slot(slot, lent["bytes"])
        mirror = self.device.borrow(lent, sets)
        self.hold(mirror.all, (lent["handle"], lent["offset"]), slots, sets, lent["stride"])

    def release(self):
        """Lets go of memory that was lent, and of everything that lies there."""
        if self.opened is not None and self.opened.mirror is not None:
            self.hold(None, None, [], 1, 0)
            self.make, self.bound, self.values = None, [], {}
            self.opened.release()

    def hold(self, memory, key, slots, sets, stride):
        self.memory, self.key = memory, key
        self.slots, self.sets, self.stride = slots, sets, stride
        self.inputs, self.outputs, self.armed, self.left, self.prepared = {}, {}, None, None, None
        self.said = set()
        self.written = {slot["name"]: tuple(slice(*ends) for ends in slot["written"]) for slot in slots if slot.get("written")}
        self.has_scalars = any(slot["role"] == "scalar" for slot in slots)
        if self.module is not None and memory is not None:
            self.bind()

    def bind(self):
        """Makes arrays over the first set of the memory, of the kind the loaded file works with."""
        make = torch_tensor if uses_torch(self.module) else numpy_array
        self.make, self.bound = partial(tensor_in if self.device is not None else make, self.memory), []
        self.inputs, self.outputs = self.arrays(0)

    def arrays(self, offset):
        """Arrays over the set that lies so many bytes behind the first."""
        inputs, outputs = {}, {}
        for slot in self.slots:
            role = slot["role"]
            if role in ("in", "out", "inout"):
                array = self.make(dict(slot, offset=slot["offset"] + offset), role == "in")
                if role != "out":
                    inputs[slot["name"]] = array
                if role != "in":
                    outputs[slot["name"]] = array
        return inputs, outputs

    def ready(self, arrays=None, offset=0):
        """The call to make. Scalars are read now: the parent may have written them after mapping."""
        if self.function is None:
            raise Failed("no function is loaded")
        if self.memory is None:
            raise Failed("no memory is mapped")
        inputs, outputs = arrays or (self.inputs, self.outputs)
        # The function's own dicts, for it may change them; and nothing of ours on the clock.
        return partial(self.function, dict(inputs), self.scalars(offset), dict(outputs), **self.config)

    def anew(self, inputs, outputs, scalars):
        """A call that is made again and again, with dicts of its own each time: the function may change them."""
        function, config = self.function, self.config
        return lambda: function(dict(inputs), dict(scalars), dict(outputs), **config)

    def scalars(self, offset=0):
        slots = [slot for slot in self.slots if slot["role"] == "scalar"]
        if self.device is not None:
            return {slot["name"]: self.told(slot) for slot in slots}
        return {slot["name"]: scalar(self.memory, dict(slot, offset=slot["offset"] + offset)) for slot in slots}

    def told(self, slot):
        """A scalar's value, where it was told."""
        if slot["offset"] not in self.values:
            raise Failed("`%s` has no value" % slot["name"])
        return scalar(self.values[slot["offset"]], dict(slot, offset=0))

    def call(self):
        result = self.ready()()
        flush()
        # One that returned the same memory again stays known for it.
        self.copies = bool(self.copies) or not is_plain(result, self.outputs)
        if self.device is not None:
            # What it returned may still be computed, on any stream.
            self.device.wait()
        self.deliver(result)
        if self.device is not None:
            self.device.wait()

    def call_apart(self, blank, watch=None):
        """One call with every argument in an allocation of its own, so that a tool around this process sees where each ends."""
        copies, wait = {}, self.device.wait if self.device is not None else lambda: None
        for name, array in list(self.inputs.items()) + list(self.outputs.items()):
            if name not in copies:
                copies[name] = apart(array, blank and name not in self.inputs and name not in self.written)
        inputs = {name: copies[name] for name in self.inputs}
        outputs = {name: copies[name] for name in self.outputs}
        call = self.ready((inputs, outputs))
        wait()
        if watch is not None:
            watch(True)
        result = call()
        flush()
        wait()
        if watch is not None:
            watch(False)
        self.deliver(result, outputs)
        for name, output in self.outputs.items():
            copy_to(output, outputs[name])
        wait()

    def call_watched(self):
        """One call that a profiler around this process watches, and nothing else that happens here."""
        self.call_apart(False, self.device.watch if self.device is not None else None)

    def time_there(self, batches, calls):
        """Times the function on the device, every call on arguments of its own."""
        began, device = clock(), self.device
        scalars = self.scalars()
        if self.armed is None or self.armed[0] != (calls, scalars, self.copies):
            armed = self.arm(calls, scalars)
            self.armed = (calls, scalars, self.copies), *armed
        _, places, run, graph, row, lie = self.armed
        timing, results = device.time(run, graph, began, batches)
        # Kept until the next sample: its answers are read where they lie.
        self.left = results = [] if self.copies else results or []
        if not graph and results:
            row, lie = 0, self.lie(places, results)
            if lie is None:
                # From now on each answer is copied before the next call.
                self.copies, lie = True, [[], []]
                self.take_over(places, results)
                device.wait()
        # A replayed graph does not mind who has this thread's processor.
        preemptions = [] if graph else timing.pop("preemptions")
        kernels = getattr(run, "kernels", [])
        # Where a recorded row leaves its answers is said once: saying it takes time that the parent waits.
        known, self.said = row in self.said, self.said | {row}
        found = {} if known and graph else {"lie": lie}
        return dict(timing, calls=calls, graph=graph, gpu=None, preemptions=preemptions, kernels=kernels, row=row, **found)

    def arm(self, calls, scalars):
        """What makes a sample of so many calls, ready to run, and whether it is a graph."""
        self.ready()
        self.bind_sets(min(calls, self.sets))
        places = [number % len(self.bound) for number in range(calls)]
        row = [self.anew(*self.bound[place], scalars) for place in places]
        if self.copies:
            row = [partial(self.deliver_one, call, self.bound[place][1]) for call, place in zip(row, places)]
        outputs = [array for place in set(places) for array in self.bound[place][1].values()]
        key = (self.key, repr(self.slots), repr(scalars), calls, self.sets, self.copies)
        run, graph = self.device.prepare(row, key, outputs)
        lie = [[], []]
        if graph and not self.copies:
            lie = self.lie(places, run.results)
            if lie is None:
                # Views, or the same memory for several calls.
                self.copies = True
                return self.arm(calls, scalars)
        if graph and run.number is None:
            self.rows += 1
            run.number = self.rows
        return places, run, graph, run.number if graph else 0, lie

    def bind_sets(self, wanted):
        """Sees to it that there are arrays for so many sets."""
        while len(self.bound) < wanted:
            self.bound.append(self.arrays(len(self.bound) * self.stride))

    def prepare(self, order):
        """Makes ready to call the function on these sets, each once. What they hold is not read yet."""
        if any(not 0 <= place < self.sets for place in order):
            raise Failed("a set is wanted that is not there, there are %d" % self.sets)
        self.bind_sets(max(order, default=-1) + 1)
        if self.copies is None:
            # What kind of answers it returns is known after one of them.
            self.call()
        row = []
        for place in order:
            (inputs, outputs), scalars = self.bound[place], {}
            row.append((partial(self.function, dict(inputs), scalars, dict(outputs), **self.config), scalars))
        self.prepared = order, row
        waiting()

    def go(self, returned, copy):
        """Times the calls that were made ready. They find their arguments where the parent has left them: in caches, or in
        memory alone. An empty function may be told to act as if it had returned its answers. Those that are returned may
        have to be copied."""
        if self.prepared is None:
            raise Failed("nothing is made ready")
        (places, row), self.prepared, self.left = self.prepared, None, None
        if self.has_scalars:
            for place, (_, scalars) in zip(places, row):
                scalars.update(self.scalars(place * self.stride))
        row = [call for call, _ in row]
        self.look_up()
        # Collecting what the function leaves is the function's; what was there before is not.
        gc.freeze()
        try:
            found, spent, times, _, _ = self.timed(row, places)
        finally:
            gc.unfreeze()
        if self.function is nothing and returned:
            found = [self.bound[place][1] for place in places[1:] + places[:1]]
        # Kept until the parent has read it.
        self.left = places, found
        spots, late = self.adopt(places, found, copy)
        return {"nanoseconds": [spent + late], "calls": len(places), "wall_nanoseconds": spent + late,
                "untimed_nanoseconds": 0, "preemptions": [times], "returned": spots}

    def timed(self, row, places):
        """Makes calls on the clock. Gives what they returned, nanoseconds, how often the system gave the processor to somebody
        else, when it began and when it ended."""
        before, waited, others, running = preempted(), waiting(), siblings(), process_time()
        start = clock()
        if self.copies:
            found = self.deliver_each(row, places)
        else:
            found = [call() for call in row]
        flush()
        stop = clock()
        times = 0 if before is None else preempted() - before
        # Time in which somebody else had the processor is not the function's. All is read in any case: who is interrupted more
        # often than an empty function must not look as if it did something after the clock.
        spent, ran = stop - start, process_time() - running
        elsewhere = max(0, waiting() - waited - (siblings() - others))
        if times:
            spent = max(spent - elsewhere, min(ran, spent))
        return found, spent, times, start, stop

    def time(self, batches, calls):
        """Times the function on one set after another; with fewer sets than calls they begin anew."""
        wanted = batches * calls
        self.bind_sets(min(wanted, self.sets))
        places = [number % len(self.bound) for number in range(wanted)]
        if self.copies is None:
            self.call()
        todo = [self.ready(self.bound[place], place * self.stride) for place in places]
        nanoseconds, preemptions, untimed, first, stop = [], [], 0, None, 0
        results = []
        gc.freeze()
        try:
            for batch in range(batches):
                begin = clock()
                self.look_up()
                part = slice(batch * calls, (batch + 1) * calls)
                found, spent, times, start, stop = self.timed(todo[part], places[part])
                results += found
                nanoseconds.append(spent)
                preemptions.append(times)
                untimed += start - begin
                first = start if first is None else first
        finally:
            gc.unfreeze()
        begin = clock()
        if repeats(results):
            # It returns memory of its own again and again: from now on each answer is copied before the next call.
            self.copies = True
        self.take_over(places, results)
        untimed += clock() - begin
        return {
            "nanoseconds": nanoseconds,
            "calls": calls,
            "wall_nanoseconds": stop - first if batches else 0,
            "untimed_nanoseconds": untimed,
            "preemptions": preemptions,
        }

    def look_up(self):
        """Lets the processor find out where the pages of bound sets are, which it knows for each process anew."""
        # Sets lie side by side. Around a single one there may be pages that cannot be read.
        if self.sets > 1:
            start = min((slot["offset"] for slot in self.slots), default=0)
            self.memory[start : start + len(self.bound) * self.stride : PAGE]


def nothing(_inputs, _scalars, _outputs):
    pass


def flush():
    """What the function printed comes out on its clock, and whatever that sets off happens there."""
    sys.stdout.flush()
    sys.stderr.flush()
