"""What of a call is on the Python worker's clock. In: the worker's program. The clock is played: it stands still but for
calls of the function, which take 1, and copies of what it returned, which take 1000. Ends with an assertion's error when
something is wrong.
"""

import os
import pathlib
import struct
import sys
import tempfile
import types

sys.dont_write_bytecode = True
worker = types.ModuleType("worker")
exec(compile(pathlib.Path(sys.argv[1]).read_text("utf-8"), "<string>", "exec"), vars(worker))

N, STRIDE, BATCHES, CALLS = 16, 4096, 2, 3
SETS = BATCHES * CALLS
CALL, COPY = 1, 1000
now = 0


def passes(time):
    global now
    now += time


def copy_to(output, value, original=worker.copy_to):
    passes(COPY)
    original(output, value)


worker.clock, worker.copy_to = lambda: now, copy_to
# Time that others had the processor is the system's to say, and it knows nothing of this clock.
worker.preempted = lambda: None


def slot(name, role, offset):
    return {"name": name, "role": role, "dtype": "f32", "shape": [N], "offset": offset, "bytes": 4 * N}


def timed(result):
    """The times of a function that returns this, after it was asked as kiln asks."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as shared:
        shared.truncate(SETS * STRIDE)
        for number in range(SETS):
            inputs = struct.pack("=%df" % N, *range(number, number + N))
            os.pwrite(shared.fileno(), inputs, number * STRIDE)
        path = os.path.join(folder, "subject.py")
        pathlib.Path(path).write_text("def f(inputs, scalars, outputs):\n    passes(1)\n    %s\n" % result)
        backend = worker.Backend()
        backend.answer({"do": "load", "library": path, "symbol": "f"})
        backend.module.passes = passes
        slots = [slot("x", "in", 0), slot("y", "out", 1024)]
        backend.answer({"do": "map", "arena": shared.fileno(), "slots": slots, "sets": SETS, "stride": STRIDE})
        times = backend.answer({"do": "time", "batches": BATCHES, "calls": CALLS})["times"]
        for number in range(SETS):
            found = struct.unpack("=%df" % N, os.pread(shared.fileno(), 4 * N, number * STRIDE + 1024))
            assert list(found) == [2.0 * (number + i) for i in range(N)], (result, number, found)
        return times


def test_plain_arrays_are_taken_over_after_the_clock():
    for result in ("return 2 * inputs['x']", "return {'y': 2 * inputs['x']}", "return (2 * inputs['x']).astype('f8')"):
        times = timed(result)
        assert times["nanoseconds"] == [CALLS * CALL] * BATCHES, (result, times)
        # They are copied all the same, and the parent is told how long that took.
        assert times["untimed_nanoseconds"] == SETS * COPY, (result, times)


def test_what_is_written_in_place_is_not_copied():
    for result in ("outputs['y'][...] = 2 * inputs['x']", "outputs['y'][...] = 2 * inputs['x']; return outputs['y']"):
        times = timed(result)
        assert times["nanoseconds"] == [CALLS * CALL] * BATCHES, (result, times)
        assert times["untimed_nanoseconds"] == 0, (result, times)


def test_views_are_copied_on_the_clock():
    for result in ("return (2 * inputs['x'])[:]", "return {'y': (2 * inputs['x']).reshape(4, 4).reshape(16)}"):
        times = timed(result)
        assert times["nanoseconds"] == [CALLS * (CALL + COPY)] * BATCHES, (result, times)
        assert times["untimed_nanoseconds"] == 0, (result, times)


def test_an_empty_function_copies_no_more_than_its_subject_however_outputs_lie():
    columns = {"shape": [4, 4], "strides": [1, 4]}
    for lies, copied in (({}, 0), (columns, 0), (dict(columns, dtype="f64", bytes=8 * N), SETS * COPY)):
        found = {}
        for empty in (True, False):
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as shared:
                shared.truncate(SETS * STRIDE)
                path = os.path.join(folder, "subject.py")
                shape = lies.get("shape", [N])
                pathlib.Path(path).write_text("import numpy\ndef f(inputs, scalars, outputs):\n"
                                              "    return numpy.ones(%r, 'f4')\n" % shape)
                backend = worker.Backend()
                backend.answer({"do": "load", "library": "" if empty else path, "symbol": "" if empty else "f"})
                slots = [slot("x", "in", 0), dict(slot("y", "out", 1024), **lies)]
                backend.answer({"do": "map", "arena": shared.fileno(), "slots": slots, "sets": SETS, "stride": STRIDE})
                backend.answer({"do": "prepare", "order": list(range(SETS))})
                found[empty] = backend.answer({"do": "go", "returned": True})["times"]
        assert found[False]["nanoseconds"] == [copied], (lies, found)
        assert found[True]["nanoseconds"] == [0], (lies, found)
        assert len(found[True]["returned"]) == SETS, (lies, found)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
