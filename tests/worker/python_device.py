"""The Python worker's device code without a device: on PyTorch's processor tensors, and with a GPU played by them.

In: the worker's program, whole or its pieces in order: worker_tensors.py worker_device.py worker_cuda.py
worker_confine.py worker_backend.py worker.py.
Ends with an assertion's error when something is wrong.
"""

import json
import os
import struct
import sys

import torch

sys.dont_write_bytecode = True
# Only now, or it would leave a folder behind.
from played import (
    ADDS, ask, doubled, Event, failed, Graph, IN_PLACE, KEPT, load, N, played, RETURNS, SCALE, Shared, SIZE,
    STREAM, subject, worker, X, Y)


def test_calls_work_in_the_mirror():
    for text in (IN_PLACE, RETURNS):
        for device in (worker.Device(torch, "cpu"), played()):
            backend, _ = subject(text, device)
            shared = Shared()
            failed("no memory is mapped", backend, "upload", image=1)
            ask(backend, "map", arena=shared.handle, slots=shared.slots())
            failed("no image 1", backend, "lay", image=1)
            ask(backend, "upload", image=1)
            ask(backend, "lay", image=1)
            # The mirror is another memory: neither what is written here now nor what is called there is seen yet.
            shared.put(X, b"\xff" * 64)
            shared.put(SCALE, struct.pack("=f", 5.0))
            assert ask(backend, "call") == "done"
            assert shared.y() == [0.0] * N
            assert ask(backend, "fetch") == "done"
            assert shared.y() == doubled(), shared.y()


def test_images_hold_their_scalars_and_survive_another_load():
    device = worker.Device(torch, "cpu")
    backend, path = subject(IN_PLACE, device)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    ask(backend, "upload", image=1)
    shared.put(SCALE, struct.pack("=f", 3.0))
    ask(backend, "upload", image=2)
    load(backend, path)
    for image, scale in ((1, 2.0), (2, 3.0), (1, 2.0)):
        ask(backend, "lay", image=image)
        ask(backend, "call")
        ask(backend, "fetch")
        assert shared.y() == doubled(scale), image
    # A scalar that was no argument when the image was kept.
    shared.put(KEPT, struct.pack("=f", 7.0))
    ask(backend, "upload", image=3)
    moved = [dict(s, offset=KEPT) if s["name"] == "scale" else s for s in shared.slots()]
    ask(backend, "map", arena=shared.handle, slots=moved)
    ask(backend, "lay", image=3)
    ask(backend, "call")
    ask(backend, "fetch")
    assert shared.y() == doubled(7.0)
    assert len(device.mirrors) == 1


def test_the_memory_used_longest_ago_is_dropped():
    device = played()
    # Room for seven mirrors beside the one in use.
    device.torch.memory = 70 * SIZE
    backend, _ = subject(IN_PLACE, device)
    shared = [Shared() for _ in range(10)]
    for number, one in enumerate(shared):
        ask(backend, "map", arena=one.handle, slots=one.slots())
        ask(backend, "upload", image=number)
        # Used again and again, so never dropped.
        ask(backend, "map", arena=shared[0].handle, slots=shared[0].slots())
    assert len(backend.arenas) == len(device.mirrors) == len(device.torch.pinned) == 8
    assert sorted(device.images) == [0, 3, 4, 5, 6, 7, 8, 9]
    failed("no image 1", backend, "lay", image=1)


def test_memory_moves_on_the_device_and_stays_on_the_host():
    device = played()
    backend, _ = subject(IN_PLACE, device)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots(), elsewhere=True)
    ask(backend, "upload", image=1)
    (mirror,) = device.mirrors.values()
    places, pinned = [mirror.bytes], list(device.torch.pinned)
    Graph.replay_of, made = lambda: None, Graph.made
    for round in range(3):
        ask(backend, "map", arena=shared.handle, slots=shared.slots(), elsewhere=True)
        assert list(device.mirrors.values()) == [mirror] and device.torch.pinned == pinned
        assert all(mirror.bytes.data_ptr() != place.data_ptr() for place in places)
        places.append(mirror.bytes)
        ask(backend, "lay", image=1)
        ask(backend, "call")
        ask(backend, "fetch")
        assert shared.y() == doubled()
        # A graph holds the places it was made with.
        ask(backend, "time", batches=1, calls=1, flush=0)
        assert Graph.made == made + round + 1
        shared.put(Y, b"\0" * 64)
        ask(backend, "fetch", parts=[(X, Y), (Y + 8, Y + 16)])
        assert shared.y() == [0.0] * 2 + doubled()[2:4] + [0.0] * 12
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    assert mirror.bytes is places[-1]


def test_memory_that_is_gone_is_let_go():
    device = played()
    backend, _ = subject(IN_PLACE, device)
    kept, gone = Shared(), Shared()
    for number, one in enumerate((kept, gone)):
        ask(backend, "map", arena=one.handle, slots=one.slots())
        ask(backend, "upload", image=number)
    # The one in use, too, when another takes its place.
    ask(backend, "map", arena=kept.handle, slots=kept.slots(), gone=[os.fstat(gone.file.fileno()).st_ino])
    assert len(backend.arenas) == len(device.mirrors) == len(device.torch.pinned) == 1
    failed("no image 1", backend, "lay", image=1)
    ask(backend, "lay", image=0)
    ask(backend, "call")
    ask(backend, "fetch")
    assert kept.y() == doubled()


def test_images_unused_for_longest_make_room():
    device = played()
    # Room for two images.
    device.torch.memory = 5 * SIZE
    backend, _ = subject(IN_PLACE, device)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    ask(backend, "upload", image=1)
    ask(backend, "upload", image=2)
    ask(backend, "lay", image=1)
    ask(backend, "upload", image=3)
    failed("no image 2", backend, "lay", image=2)
    ask(backend, "lay", image=1)
    # One that is too large alone is kept alone.
    device.torch.memory = SIZE
    ask(backend, "upload", image=4)
    assert list(device.images) == [4]


def test_strides_empty_tensors_and_dtypes():
    memory = torch.zeros(SIZE, dtype=torch.uint8)
    slot = {"name": "a", "offset": 64, "bytes": 4 * 7, "dtype": "f32", "shape": [2, 3], "strides": [4, 1]}
    tensor = worker.tensor_in(memory, slot, False)
    assert tensor.stride() == (4, 1) and tensor.data_ptr() == memory.data_ptr() + 64
    tensor[1, 2] = 1.0
    assert memory[64 + 24 : 64 + 28].view(torch.float32).item() == 1.0
    empty = worker.tensor_in(memory, {"name": "e", "offset": 0, "bytes": 0, "dtype": "bf16", "shape": [0, 4]}, False)
    assert empty.shape == (0, 4) and empty.dtype == torch.bfloat16
    for dtype, size in (("bool", 1), ("f16", 2), ("bf16", 2), ("i64", 8), ("f64", 8), ("u8", 1), ("i8", 1)):
        one = {"name": "d", "offset": 128, "bytes": 3 * size, "dtype": dtype, "shape": [3]}
        assert worker.tensor_in(memory, one, False).element_size() == size


def timed(device, text, role="out", **how):
    backend, path = subject(text, device)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots(role))
    ask(backend, "upload", image=1)
    ask(backend, "lay", image=1)
    asked = dict({"batches": 3, "calls": 1, "flush": 0}, **how)
    times = ask(backend, "time", **asked)["times"]
    json.dumps(times)
    assert len(times["nanoseconds"]) == asked["batches"] and times["calls"] == asked["calls"]
    assert sum(times["nanoseconds"]) <= times["wall_nanoseconds"]
    assert times["untimed_nanoseconds"] == times["wall_nanoseconds"] - sum(times["nanoseconds"])
    assert times["gpu"] is None
    ask(backend, "fetch")
    return backend, shared, times


def test_times_are_taken():
    _, shared, times = timed(worker.Device(torch, "cpu"), ADDS, "inout", batches=7, flush=1)
    assert shared.y() == doubled(7.0) and times["graph"] is False
    backend, shared, times = timed(worker.Device(torch, "cpu"), RETURNS, calls=4)
    assert shared.y() == doubled()
    failed("2 calls in a sample on 1 sets, but the caches", backend, "time", batches=1, calls=2, flush=1)


FILL = {"offset": X, "dtype": "f32", "shape": [N], "numbers": "normal"}


def drawing(first=0, seed=7, **how):
    return {"image": 1, "seed": seed, "first": first, "fills": [dict(FILL, **how)]}


def at(shared, offset):
    return list(struct.unpack("=16f", os.pread(shared.file.fileno(), 4 * N, offset)))


def test_sets_are_drawn_and_every_call_has_its_own():
    text = """
import torch
seen = []
def f(inputs, scalars, outputs):
    seen.append(inputs["x"].tolist())
    torch.mul(inputs["x"], scalars["scale"], out=outputs["y"])
"""
    for device in (worker.Device(torch, "cpu"), played()):
        device.prepare = lambda row, key, outputs: (lambda: worker.in_a_row(row), False)
        backend, _ = subject(text, device)
        shared = Shared()
        shared.put(Y, b"\xff" * 64)
        ask(backend, "map", arena=shared.handle, slots=shared.slots(), sets=3)
        ask(backend, "upload", image=1)
        ask(backend, "lay", image=1)
        ask(backend, "draw", **drawing(first=5))
        drawn = []
        for number in range(3):
            ask(backend, "fetch", set=number)
            drawn.append(at(shared, X))
            # What is not drawn is as in the image: outputs that nobody wrote, and what lies between.
            assert all(value != value for value in shared.y())
            assert os.pread(shared.file.fileno(), 64, X + 64) == b"\0" * 64
        assert drawn[0] != drawn[1] != drawn[2] and max(map(max, drawn)) < 8
        failed("set 3 is wanted, there are 3", backend, "fetch", set=3)
        # The same numbers for the same calls, however many sets are drawn at a time.
        times = ask(backend, "time", batches=2, calls=2, flush=1, draw=drawing(first=4))["times"]
        assert len(times["nanoseconds"]) == 2
        seen = backend.module.seen
        assert seen[-3:] == drawn and seen[-4] not in drawn
        for number in range(2):
            ask(backend, "fetch", set=number)
            assert at(shared, X) == drawn[number + 1]
            assert shared.y() == [2.0 * value for value in torch.tensor(drawn[number + 1]).tolist()]
        ask(backend, "draw", **drawing(first=5, seed=8))
        ask(backend, "fetch")
        assert at(shared, X) not in drawn
        failed("no image 2", backend, "draw", **dict(drawing(), image=2))
        # With fewer sets than calls they begin anew; where caches are cold, that is no sample.
        ask(backend, "time", batches=1, calls=7, flush=0, draw=drawing())
        failed("4 calls in a sample on 3 sets", backend, "time", batches=1, calls=4, flush=1)


def test_every_kind_of_number_is_drawn():
    device = worker.Device(torch, "cpu")
    memory = torch.zeros(SIZE, dtype=torch.uint8)
    for dtype, numbers, low, high in (
        ("f32", {"real": [2.0, 3.0]}, 2, 3), ("bf16", "normal", -9, 9), ("f8e4m3", "normal", -9, 9),
        ("i32", {"whole": [-3, 6]}, -3, 3), ("u8", {"whole": [0, 255]}, 0, 255), ("bool", {"whole": [0, 1]}, 0, 1),
        ("i64", {"whole": [-(1 << 63), (1 << 64) - 1]}, -(1 << 63), (1 << 63) - 1),
    ):
        fill = dict(FILL, offset=64, dtype=dtype, shape=[5, 100], strides=[120, 1], numbers=numbers)
        memory.zero_()
        device.numbers.seed(3)
        device.numbers.fill(memory, fill)
        size = worker.BYTES.get(dtype, 1)
        made = worker.tensor_in(memory, dict(fill, name="", bytes=size * worker.reach(fill)), False)
        values = made.to(torch.float64)
        assert low <= values.min() < values.max() <= high, dtype
        between = worker.tensor_in(memory, dict(fill, name="", offset=64 + 100 * size, bytes=20 * size, shape=[20],
                                                strides=None), False)
        assert not between.to(torch.float64).any(), dtype


def test_what_might_still_be_computed_is_copied_on_the_clock():
    views = "import torch\ndef f(inputs, scalars, outputs): return {'y': (inputs['x'] * scalars['scale'])[:]}\n"
    backend, shared, times = timed(worker.Device(torch, "cpu"), views.replace("[:]", ""), calls=2)
    assert shared.y() == doubled() and not backend.copies
    device = worker.Device(torch, "cpu")
    backend, path = subject(views, device)
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    ask(backend, "upload", image=1)
    ask(backend, "lay", image=1)
    # Not seen before, it is refused; once it was called it is copied.
    failed("a view or lazy", backend, "time", batches=1, calls=1, flush=0)
    ask(backend, "call")
    shared.put(Y, b"\0" * 64)
    ask(backend, "time", batches=1, calls=1, flush=0)
    ask(backend, "fetch")
    assert backend.copies and shared.y() == doubled()
    lazy = "import torch\nclass D(dict): pass\ndef f(inputs, scalars, outputs): return D(y=inputs['x'])\n"
    backend, path = subject(lazy, device)
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    failed("the function returned a D, not a dict", backend, "call")


def test_graphs_are_kept_and_made_anew():
    made, device = Graph.made, played()
    ran = []
    Graph.replay_of = lambda: ran.append(1)
    Event.took = 0.0
    backend, shared, times = timed(device, IN_PLACE, batches=5, calls=2)
    # Five samples, and once untimed.
    assert times["graph"] is True and times["preemptions"] == [] and len(ran) == 6
    # Warm-up calls wrote y, and a graph that computes nothing must not live on their answers.
    assert Graph.made == made + 1 and shared.y() == [0.0] * N
    again = dict(batches=1, calls=2, flush=0)
    ask(backend, "time", **again)
    ask(backend, "lay", image=1)
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    ask(backend, "time", **again)
    assert Graph.made == made + 1
    ask(backend, "time", **dict(again, calls=3))
    assert Graph.made == made + 2
    shared.put(SCALE, struct.pack("=f", 4.0))
    ask(backend, "upload", image=2)
    ask(backend, "lay", image=2)
    ask(backend, "time", **again)
    assert Graph.made == made + 3
    other = Shared()
    ask(backend, "map", arena=other.handle, slots=other.slots())
    ask(backend, "time", **again)
    assert Graph.made == made + 4
    load(backend, backend.path)
    ask(backend, "time", **again)
    assert Graph.made == made + 5
    for calls in range(10, 20):
        ask(backend, "time", **dict(again, calls=calls))
    assert len(device.graphs) == worker.GRAPHS


def test_a_sample_is_on_the_stream_before_the_gpu_reaches_it():
    sample = ["event", "graph", "event"]
    for how, hold in (
        ({}, [300_000]),
        (dict(clock_rate=1_980_000), [297_000]),
        (dict(clock_rate=0), [300_000]),
        (dict(sleeps=False), []),
    ):
        device = played(**how)
        cool = device.cool
        device.cool = lambda: (STREAM.append("cold"), cool())
        backend, _ = subject(ADDS, device)
        seen = []

        def adds():
            seen.append(backend.outputs["y"].tolist())
            backend.outputs["y"].add_(backend.inputs["x"])

        Graph.replay_of = adds
        shared = Shared()
        ask(backend, "map", arena=shared.handle, slots=shared.slots("inout"))
        ask(backend, "upload", image=1)
        ask(backend, "lay", image=1)
        # The graph's first replay is no sample, and what it wrote is put back.
        for untimed in (["graph"], []):
            del STREAM[:]
            ask(backend, "time", batches=2, calls=1, flush=1)
            assert STREAM == untimed + 2 * (["cold"] + hold + sample), STREAM
        assert seen[1:3] == [doubled(0.0), doubled(1.0)], seen


def test_what_a_graph_returns_is_delivered():
    text = """
import torch
made = []
def f(inputs, scalars, outputs):
    made.append(torch.zeros_like(inputs["x"]))
    return {"y": made[-1]}
"""
    device = played()
    backend, path = subject(text, device)
    Graph.replay_of = lambda: backend.module.made[-1].fill_(6.0)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    ask(backend, "upload", image=1)
    ask(backend, "lay", image=1)
    device.elsewhere = lambda result: ""
    times = ask(backend, "time", batches=2, calls=1, flush=1)["times"]
    ask(backend, "fetch")
    assert times["graph"] and shared.y() == [6.0] * N and len(device.cold) == 120 << 20


def test_what_cannot_be_captured_is_called_plainly():
    text = """
import torch
calls = []
def f(inputs, scalars, outputs):
    import worker_graph
    calls.append(1)
    if worker_graph.capturing:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing\\nadvice")
    return inputs["x"] * scalars["scale"]
"""
    sys.modules["worker_graph"] = Graph
    made, device = Graph.made, played()
    del STREAM[:]
    backend, shared, times = timed(device, text)
    # Calls that may wait for the device themselves are not held.
    assert STREAM == 3 * ["event", "event"], STREAM
    assert times["graph"] is False and shared.y() == doubled() and len(times["preemptions"]) == 3
    ask(backend, "time", batches=1, calls=1, flush=0)
    # It is not tried again.
    assert Graph.made == made + 1
    # Nor is a graph trusted whose result is not computed on the device.
    elsewhere = played()
    elsewhere.place = "cuda"
    assert elsewhere.elsewhere(torch.zeros(1)) and elsewhere.elsewhere({"y": 1.0}) and not elsewhere.elsewhere(None)


def test_work_the_events_do_not_see_is_timed_by_the_host():
    assert worker.of_calls(1_000_000, 1_020_000) == 1_000_000
    assert worker.of_calls(1_000_000, 1_249_000) == 1_000_000
    assert worker.of_calls(1_000_000, 1_251_000) == 1_251_000
    assert worker.of_calls(1_000, 50_000) == 1_000
    assert worker.of_calls(2_000, 1_990) == 1_990
    assert worker.of_graph(2_000, 9_000) == 2_000
    assert worker.of_graph(2_000, 60_000) == 62_000


def test_errors_of_the_device_stay():
    device = played()
    text = "import torch\ndef f(inputs, scalars, outputs):\n    raise RuntimeError('CUDA error: an illegal\\nadvice')\n"
    backend, path = subject(text, device)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    try:
        ask(backend, "call")
    except RuntimeError as error:
        # The device goes on, and so does the worker.
        assert worker.describe(error, path) == "%s:3: RuntimeError: CUDA error: an illegal" % path
    device.torch.broken = RuntimeError("CUDA error: unspecified launch failure\nadvice")
    words = "subject_%s:3: RuntimeError: CUDA error: an illegal" % path.rsplit("subject_", 1)[1]
    failed(words, backend, "call")
    for do in ("call", "map", "describe", "pin"):
        failed(words, backend, do)


def test_what_was_noticed_late_is_said_without_a_place():
    device = played()
    backend, path = subject(IN_PLACE, device)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    device.torch.broken = RuntimeError("CUDA error: unspecified launch failure\nadvice")
    failed("RuntimeError: CUDA error: unspecified launch failure", backend, "call")
    assert backend.broken == "RuntimeError: CUDA error: unspecified launch failure", backend.broken


def test_no_gpu_has_its_reason():
    for how, words in (
        (dict(available=False), "PyTorch sees no GPU: No CUDA GPUs are available"),
        (dict(available=False, cuda=None), "PyTorch sees no GPU: this PyTorch (2.11) is built without CUDA"),
    ):
        try:
            played(**how)
        except worker.Failed as why:
            assert str(why) == words, why
        else:
            raise AssertionError(words)


def test_a_gpu_is_described():
    backend, _ = subject(IN_PLACE, played())
    told = ask(backend, "describe")["device"]
    assert told["name"] == "H" and told["uuid"] == "GPU-ab" and told["capability"] == [9, 0]
    assert told["smem_per_block"] == 232448 and told["l2"] == 60 << 20 and told["memory_free"] == 5
    assert told["cuda"] == "13.0" and told["driver"] == ""


def test_memory_that_cannot_be_pinned_is_used_all_the_same():
    device = played()
    device.torch.refuses = True
    backend, _ = subject(IN_PLACE, device)
    shared = Shared()
    ask(backend, "map", arena=shared.handle, slots=shared.slots())
    assert device.torch.swallowed == 1
    ask(backend, "upload", image=1)
    ask(backend, "lay", image=1)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        print(name)
        test()
