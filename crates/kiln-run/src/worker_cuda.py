"""The worker's third piece: the first GPU that can be seen, by way of PyTorch.

Calls that can be captured are replayed from graphs and timed by the GPU's events, others are launched one by one.
Refuses to open when PyTorch sees no GPU.
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


class Cuda(Device):
    """The first GPU that can be seen: copies from pinned memory, calls replayed from graphs, times by its events."""

    def __init__(self, torch):
        if not torch.cuda.is_available():
            raise Failed("PyTorch sees no GPU: %s" % no_gpu(torch))
        super().__init__(torch, "cuda")
        torch.cuda.set_device(0)
        self.graphs, self.eager = {}, False
        self.sleep = getattr(getattr(torch, "_C", None), "_cuda_sleep", None) or getattr(torch.cuda, "_sleep", None)
        self.synchronize = getattr(getattr(torch, "_C", None), "_cuda_synchronize", None) or torch.cuda.synchronize
        self.graph, self.stream, self.on = torch.cuda.CUDAGraph, torch.cuda.Stream, torch.cuda.stream
        self.replay = method(self.graph, "replay")
        self.measure = self.stopwatch()
        self.cycles = HOLD * (getattr(torch.cuda.get_device_properties(0), "clock_rate", 0) or FAST) // 1_000_000

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

    def forget_graphs_of(self, key):
        self.graphs = {graph: run for graph, run in self.graphs.items() if graph[0] != key}

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
        graph, stream, results, why = self.graph(), self.stream(), [], ""
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

        return run

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

    def cache(self):
        return getattr(self.torch.cuda.get_device_properties(0), "L2_cache_size", 0)

    def room(self):
        return self.torch.cuda.get_device_properties(0).total_memory // 5 * 2

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
