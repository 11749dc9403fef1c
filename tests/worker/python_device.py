"""The Python worker's device code without a device: on PyTorch's processor tensors, and with a GPU played by them.

In: the worker's program, whole or its pieces in order: worker_tensors.py worker_device.py worker_cuda.py
worker_confine.py worker_answers.py worker_backend.py worker.py.
Ends with an assertion's error when something is wrong.
"""

import json
import sys

import torch

sys.dont_write_bytecode = True
# Only now, or it would leave a folder behind.
from played import (
    ADDS, ask, doubled, Event, failed, Graph, IN_PLACE, Kept, KeptGraph, Library, load, N, plain, played, RETURNS, SIZE,
    STREAM, subject, worker, X, Y)


def test_calls_work_in_memory_that_is_lent():
    for text in (IN_PLACE, RETURNS):
        for device in (plain(), played()):
            backend, _ = subject(text, device)
            failed("no memory is mapped", backend, "call")
            kept = Kept()
            ask(backend, "map", lent=kept.lent(), slots=kept.slots())
            failed("`scale` has no value", backend, "call")
            for scale in (2.0, 3.0, 2.0):
                kept.tell(backend, scale)
                assert ask(backend, "call") == "done"
                assert kept.y() == doubled(scale), kept.y()
            # Nothing around the arguments is touched, nor the guard before the first set.
            assert kept.at(Y + 64) == [0.0] * N and not kept.memory[: Kept.BEGIN].any()


def test_a_profiler_sees_the_call_alone():
    seen = []
    for text in (IN_PLACE, RETURNS):
        device = played()
        device.torch.cuda.profiler = type("P", (), {"start": lambda: seen.append("on"), "stop": lambda: seen.append("off")})
        backend, _ = subject(text, device)
        kept = Kept()
        kept.map(backend)
        seen.clear()
        assert ask(backend, "call_watched") == "done"
        assert seen == ["on", "off"] and kept.y() == doubled(), (seen, kept.y())
    backend, _ = subject(IN_PLACE, plain())
    kept = Kept()
    kept.map(backend)
    assert ask(backend, "call_watched") == "done" and kept.y() == doubled()


def test_memory_that_was_lent_is_given_back():
    device = played()
    backend, path = subject(IN_PLACE, device)
    Graph.replay_of = lambda: None
    one, other = Kept(), Kept()
    one.map(backend)
    ask(backend, "time", batches=1, calls=1)
    assert len(device.graphs) == 1
    # Another takes its place, and what was recorded over the first is gone with it.
    other.map(backend)
    assert device.closed == [one.handle] and not device.graphs
    ask(backend, "call")
    assert other.y() == doubled() and one.y() == [0.0] * N
    ask(backend, "release")
    assert device.closed == [one.handle, other.handle] and device.mirror is None
    failed("no memory is mapped", backend, "call")
    failed("no memory is mapped", backend, "time", batches=1, calls=1)
    # Again, and scalars are to be told again.
    ask(backend, "map", lent=one.lent(), slots=one.slots())
    failed("`scale` has no value", backend, "call")
    load(backend, path)
    one.tell(backend, 5.0)
    ask(backend, "call")
    assert one.y() == doubled(5.0)
    slots = [dict(slot, offset=SIZE - 60) if slot["name"] == "y" else slot for slot in one.slots()]
    failed("`y`: 64 bytes at offset 16324 lie outside", backend, "map", lent=one.lent(), slots=slots)


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
    kept = Kept()
    kept.map(backend, role)
    asked = dict({"batches": 3, "calls": 1}, **how)
    times = ask(backend, "time", **asked)["times"]
    json.dumps(times)
    assert len(times["nanoseconds"]) == asked["batches"] and times["calls"] == asked["calls"]
    assert sum(times["nanoseconds"]) <= times["wall_nanoseconds"]
    assert times["untimed_nanoseconds"] == times["wall_nanoseconds"] - sum(times["nanoseconds"])
    assert times["gpu"] is None
    return backend, kept, times


def gives_out(device):
    """Has a device tell others where its memory is."""
    device.lie = lambda value: ("ab", value.data_ptr())
    return device


def test_times_are_taken():
    _, kept, times = timed(plain(), ADDS, "inout", batches=7)
    assert kept.y() == doubled(7.0) and times["graph"] is False
    backend, kept, times = timed(plain(), RETURNS, calls=4)
    assert kept.y() == doubled()


def test_every_call_has_its_own_set():
    text = """
import torch
seen = []
def f(inputs, scalars, outputs):
    seen.append(inputs["x"].tolist())
    torch.mul(inputs["x"], scalars["scale"], out=outputs["y"])
"""
    for device in (plain(), played()):
        device.prepare = lambda row, key, outputs: (lambda: worker.in_a_row(row), False)
        for returns in (False, True):
            changed = text.replace("torch.mul(inputs", "return torch.mul(inputs").replace(", out=outputs[\"y\"]", "")
            backend, _ = subject(changed if returns else text, device)
            kept = Kept(sets=3)
            drawn = [[float(i + 100 * number) for i in range(N)] for number in range(3)]
            for number, values in enumerate(drawn):
                kept.put(X, torch.tensor(values).numpy().tobytes(), number)
            kept.map(backend)
            ask(backend, "time", batches=2, calls=2)
            assert backend.module.seen[-4:] == drawn[:2] * 2
            assert kept.y(0) == [2 * v for v in drawn[0]] and kept.y(1) == [2 * v for v in drawn[1]]
            assert kept.y(2) == [0.0] * N
            # With fewer sets than calls they begin anew.
            ask(backend, "time", batches=1, calls=7)
            assert backend.module.seen[-7:] == drawn * 2 + drawn[:1] and kept.y(2) == [2 * v for v in drawn[2]]


def test_what_might_still_be_computed_is_copied_on_the_clock():
    views = "import torch\ndef f(inputs, scalars, outputs): return {'y': (inputs['x'] * scalars['scale'])[:]}\n"
    # Where another process can read what was returned, it stays where it is; elsewhere it is copied.
    backend, kept, times = timed(gives_out(plain()), views.replace("[:]", ""), calls=2)
    assert times["lie"][0] == ["ab"] and not backend.copies
    backend, kept, times = timed(plain(), views.replace("[:]", ""), calls=2)
    assert times["lie"] == [[], []] and kept.y() == doubled() and backend.copies
    device = plain()
    backend, path = subject(views, device)
    kept.map(backend)
    # Not seen before, it is refused; from then on it is copied.
    failed("a view or lazy", backend, "time", batches=1, calls=1)
    kept.put(Y, b"\0" * 64)
    ask(backend, "time", batches=1, calls=1)
    assert backend.copies and kept.y() == doubled()
    lazy = "import torch\nclass D(dict): pass\ndef f(inputs, scalars, outputs): return D(y=inputs['x'])\n"
    backend, path = subject(lazy, device)
    kept.map(backend)
    failed("the function returned a D, not a dict", backend, "call")


def test_graphs_are_kept_and_made_anew():
    made, device = Graph.made, played()
    ran = []
    Graph.replay_of = lambda: ran.append(1)
    Event.took = 0.0
    backend, kept, times = timed(device, IN_PLACE, batches=5, calls=2)
    # Five samples, and once untimed.
    assert times["graph"] is True and times["preemptions"] == [] and len(ran) == 6
    # Warm-up calls wrote y, and a graph that computes nothing must not live on their answers.
    assert Graph.made == made + 1 and kept.y() == [0.0] * N
    again = dict(batches=1, calls=2)
    ask(backend, "time", **again)
    kept.tell(backend, 2.0)
    ask(backend, "time", **again)
    assert Graph.made == made + 1
    ask(backend, "time", **dict(again, calls=3))
    ask(backend, "time", **again)
    assert Graph.made == made + 2
    kept.tell(backend, 4.0)
    ask(backend, "time", **again)
    assert Graph.made == made + 3
    Kept().map(backend)
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
        backend, _ = subject(ADDS, device)
        seen = []

        def adds():
            seen.append(backend.outputs["y"].tolist())
            backend.outputs["y"].add_(backend.inputs["x"])

        Graph.replay_of = adds
        Kept().map(backend, "inout")
        # The graph's first replay is no sample, and what it wrote is put back.
        for untimed in (["graph"], []):
            del STREAM[:]
            ask(backend, "time", batches=2, calls=1)
            assert STREAM == untimed + 2 * (hold + sample), STREAM
        assert seen[1:3] == [doubled(0.0), doubled(1.0)], seen


def test_what_a_graph_returns_is_read_where_it_lies():
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
    kept = Kept()
    kept.map(backend)
    device.elsewhere = lambda result: ""
    gives_out(device)
    for told in (True, False):
        times = ask(backend, "time", batches=2, calls=2)["times"]
        assert times["graph"] and times["row"] == 1 and not backend.copies
        # Once for each row: saying it takes time that the parent waits.
        made = backend.module.made
        spots = [["ab"], [[(0, 0, made[-2].data_ptr())], [(0, 0, made[-1].data_ptr())]]]
        assert times.get("lie") == (spots if told else None) and made[-1].tolist() == [6.0] * N
    ask(backend, "time", batches=1, calls=1)
    assert ask(backend, "time", batches=1, calls=2)["times"]["row"] == 1
    # Another's memory is another row.
    Kept().map(backend)
    assert "lie" in ask(backend, "time", batches=1, calls=2)["times"]
    # The same memory for every call: each answer is copied before the next call.
    again = text.replace("made.append(torch.zeros_like(inputs[\"x\"]))", "made[:] = made or [torch.zeros_like(inputs[\"x\"])]")
    backend, path = subject(again, device)
    kept.map(backend)
    assert ask(backend, "time", batches=1, calls=2)["times"]["lie"] == [[], []] and backend.copies


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
    backend, kept, times = timed(device, text)
    # Calls that may wait for the device themselves are not held.
    assert STREAM == 3 * ["event", "event"], STREAM
    assert times["graph"] is False and kept.y() == doubled() and len(times["preemptions"]) == 3
    ask(backend, "time", batches=1, calls=1)
    # It is not tried again.
    assert Graph.made == made + 1
    # Nor is a graph trusted whose result is not computed on the device.
    elsewhere = played()
    elsewhere.place = "cuda"
    assert elsewhere.elsewhere(torch.zeros(1)) and elsewhere.elsewhere({"y": 1.0}) and not elsewhere.elsewhere(None)


def test_kernels_of_a_graph_are_named():
    library = Library()
    copy, fill, host, child, kernel = (1, None), (2, None), (3, None), (4, 2), lambda name: (0, name)
    library.record(1, kernel("nvjet_sm90"), fill, kernel("softmax"), host, child, kernel("softmax"), kernel("nvjet_sm90"))
    library.record(2, kernel("(inner)"), copy, kernel("softmax"))
    Graph.replay_of = lambda: None
    device = played(library=library, graph=KeptGraph)
    backend, kept, times = timed(device, IN_PLACE)
    # Each once, in order, graphs in graphs too.
    assert times["kernels"] == ["nvjet_sm90", "[memset]", "softmax", "inner", "[memcpy]"], times["kernels"]
    assert times["graph"] and len(library.asked) == 3
    # They are known of a graph that is there already, and are another's after another capture.
    ask(backend, "time", batches=1, calls=1)
    library.record(1, kernel("other"))
    assert ask(backend, "time", batches=1, calls=1)["times"]["kernels"] == times["kernels"]
    assert ask(backend, "time", batches=1, calls=2)["times"]["kernels"] == ["other"]
    # What a file exchanges later is not what is asked.
    KeptGraph.raw_cuda_graph, true = (lambda self: 2), KeptGraph.raw_cuda_graph
    try:
        assert ask(backend, "time", batches=1, calls=3)["times"]["kernels"] == ["other"]
    finally:
        KeptGraph.raw_cuda_graph = true


def test_kernels_that_nobody_shows_are_unknown():
    Graph.replay_of = lambda: None
    condition, broken = Library(), Library()
    condition.record(1, (0, "softmax"), (13, None))
    for how in (
        dict(),
        # A recording is kept, and the driver is too old; the other way round; a condition; an error.
        dict(graph=KeptGraph),
        dict(graph=KeptGraph, library=Library(without=["cuFuncGetName"])),
        dict(graph=Graph, library=condition),
        dict(graph=KeptGraph, library=condition),
        dict(graph=KeptGraph, library=broken),
    ):
        _, _, times = timed(played(**how), IN_PLACE)
        assert times["graph"] and times["kernels"] == [], times["kernels"]
    # Nor is anything known of calls that are made one by one.
    assert timed(plain(), IN_PLACE)[2]["kernels"] == []


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
    Kept().map(backend)
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
    Kept().map(backend)
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


for name, test in list(globals().items()):
    if name.startswith("test_"):
        print(name)
        test()
