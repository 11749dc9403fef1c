"""What happens on a GPU, with a stand-in for PyTorch: which clock is read, which calls are timed, which architecture is looked for.
This shows the mechanics only; real events and real GPUs are not covered here."""

import sys
import types
import unittest

from kiln.capture.recorder import Recorder
from kiln.staleness import architecture, processor


class Event:
    """Elapses 2 ms between any two."""

    made = 0

    def __init__(self, enable_timing):
        assert enable_timing
        Event.made += 1
        self.recorded = False

    def record(self):
        self.recorded = True

    def synchronize(self):
        assert self.recorded

    def elapsed_time(self, end):
        assert self.recorded and end.recorded
        return 2.0


class Array:
    shape, dtype = (4, 64), "float32"

    def __init__(self, device):
        self.device = types.SimpleNamespace(type=device)


class OnGpu(unittest.TestCase):
    def setUp(self):
        self.capturing = False
        cuda = types.SimpleNamespace(
            Event=Event, is_current_stream_capturing=lambda: self.capturing, get_device_capability=lambda _device: (9, 0))
        before = sys.modules.get("torch")
        sys.modules["torch"] = types.SimpleNamespace(cuda=cuda)
        self.addCleanup(lambda: sys.modules.update(torch=before) if before else sys.modules.pop("torch"))
        Event.made = 0
        self.recorder = Recorder()
        self.operation = self.recorder.operation("f", "function")

    def call(self, device="cuda", compiled=None):
        return self.recorder.call(self.operation, lambda: {"x": Array(device)}, lambda: "answer", compiled)

    def calls(self):
        self.recorder.read()
        return next(iter(self.operation.kinds.values()))

    def test_events_time_what_lies_on_a_gpu(self):
        for _ in range(3):
            self.assertEqual(self.call(), "answer")
        self.assertEqual((self.calls().count, self.calls().timed, Event.made), (3, 3, 6))
        self.assertAlmostEqual(self.calls().seconds, 0.006)

    def test_the_clock_times_what_does_not(self):
        self.call("cpu")
        self.assertEqual((self.calls().timed, Event.made), (1, 0))
        self.assertLess(self.calls().seconds, 0.002)

    def test_many_events_are_read_before_the_end(self):
        for _ in range(1500):
            self.call()
        self.assertLess(len(self.recorder.pending), 1024)
        self.assertEqual((self.calls().timed, self.calls().count), (1500, 1500))

    def test_a_call_that_compiles_or_is_recorded_in_a_graph_counts_as_an_average_one(self):
        binaries = iter([0, 1, 1, 1])
        self.call(compiled=lambda: next(binaries))
        self.assertEqual((self.calls().count, self.calls().timed, self.calls().seconds), (1, 0, None))
        self.call(compiled=lambda: next(binaries))
        self.capturing = True
        self.call()
        self.assertEqual((self.calls().count, self.calls().timed), (3, 1))
        self.assertAlmostEqual(self.calls().seconds, 0.006)

    def test_the_architecture_is_that_of_the_arrays_gpu(self):
        self.assertEqual(architecture([1, Array("cpu"), Array("cuda")]), "sm_90")
        self.assertEqual(architecture([1, Array("cpu")]), processor())


if __name__ == "__main__":
    unittest.main()
