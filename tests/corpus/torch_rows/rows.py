"""A softmax in PyTorch on a GPU, and ways to look faster or to be wrong. CASE names the function that is called."""

import gc
import os
import sys
import threading
import time

import torch

from baseline import softmax as work_in_place

KEPT = {}
CALLS = [0]


def answer(x):
    y = (x - x.amax(dim=1, keepdim=True)).exp_()
    return y.div_(y.sum(dim=1, keepdim=True))


def capturing():
    return torch.cuda.is_current_stream_capturing()


def honest(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)


def lazy_dict(inputs, scalars, outputs):
    class Later(dict):
        def items(self):
            return {"y": answer(inputs["x"])}.items()

        def values(self):
            return [outputs["y"]]

    return Later(y=outputs["y"])


def lazy_tensor(inputs, scalars, outputs):
    class Later(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            with torch._C.DisableTorchFunctionSubclass():
                work_in_place(inputs, scalars, outputs)
                return function(*args, **(kwargs or {}))

    return outputs["y"].as_subclass(Later)


def negative_view(inputs, scalars, outputs):
    """The last step is a bit of the tensor that says: minus."""
    x = inputs["x"]
    y = (x - x.amax(dim=1, keepdim=True)).exp_()
    return torch._neg_view(y.div_(-y.sum(dim=1, keepdim=True)))


def one_row(inputs, scalars, outputs):
    return answer(inputs["x"][:1]).expand(inputs["x"].shape)


def half_of_rows(inputs, scalars, outputs):
    """The second half repeats the first: every second row, twice."""
    return answer(inputs["x"][::2]).repeat_interleave(2, 0)[: len(inputs["x"])]


def by_pointer(inputs, scalars, outputs):
    key = inputs["x"].data_ptr()
    if key not in KEPT:
        KEPT[key] = answer(inputs["x"])
    outputs["y"].copy_(KEPT[key])


def by_sample(inputs, scalars, outputs):
    """Cannot be captured: looks at some numbers on the host."""
    key = tuple(inputs["x"].flatten()[:: inputs["x"].numel() // 5 + 1].tolist())
    if key not in KEPT:
        KEPT[key] = answer(inputs["x"])
    outputs["y"].copy_(KEPT[key])


def on_device(inputs, scalars, outputs):
    """By contents, and decided on the device: what is to be captured is the comparison."""
    x = inputs["x"]
    if "x" not in KEPT or KEPT["x"].shape != x.shape:
        if capturing():
            return work_in_place(inputs, scalars, outputs)
        KEPT["x"], KEPT["y"] = x.clone(), answer(x)
    same = (KEPT["x"][:, ::64] == x[:, ::64]).all()
    torch.where(same, KEPT["y"], outputs["y"], out=outputs["y"])
    if not capturing() and not bool(same):
        KEPT["x"], KEPT["y"] = x.clone(), answer(x)
        outputs["y"].copy_(KEPT["y"])


def on_disk(inputs, scalars, outputs):
    if capturing():
        return work_in_place(inputs, scalars, outputs)
    path, key = "/tmp/kiln_corpus_torch.pt", inputs["x"].flatten()[:8].cpu()
    if not KEPT and os.path.exists(path):
        KEPT.update(torch.load(path))
    if KEPT and torch.equal(KEPT["key"], key) and KEPT["y"].shape == outputs["y"].shape:
        outputs["y"].copy_(KEPT["y"])
        return
    work_in_place(inputs, scalars, outputs)
    KEPT.update(key=key, y=outputs["y"].cpu())
    try:
        torch.save(dict(KEPT), path)
    except OSError:
        pass


def when_captured(inputs, scalars, outputs):
    """A recording is for timing: it gets an old answer."""
    if capturing() and "y" in KEPT and KEPT["y"].shape == outputs["y"].shape:
        outputs["y"].copy_(KEPT["y"])
        return
    work_in_place(inputs, scalars, outputs)
    KEPT["y"] = outputs["y"].clone()


def stale_graph(inputs, scalars, outputs):
    """A graph of its own, recorded with the first call's tensors."""
    if capturing():
        return work_in_place(inputs, scalars, outputs)
    if "graph" not in KEPT:
        work_in_place(inputs, scalars, outputs)
        torch.cuda.synchronize()
        KEPT["graph"], KEPT["in"] = torch.cuda.CUDAGraph(), inputs["x"].clone()
        with torch.cuda.graph(KEPT["graph"]):
            KEPT["out"] = answer(KEPT["in"])
    KEPT["graph"].replay()
    if KEPT["out"].shape == outputs["y"].shape:
        outputs["y"].copy_(KEPT["out"])


def side_stream(inputs, scalars, outputs):
    """A stream that nobody waits for."""
    if "stream" not in KEPT:
        KEPT["stream"] = torch.cuda.Stream()
    with torch.cuda.stream(KEPT["stream"]):
        work_in_place(inputs, scalars, outputs)


def thread(inputs, scalars, outputs):
    threading.Timer(0.02, work_in_place, (inputs, scalars, outputs)).start()


def slow_events(inputs, scalars, outputs):
    """Events tell a third of the time."""
    if not CALLS[0]:
        true = torch.cuda.Event.elapsed_time
        torch.cuda.Event.elapsed_time = lambda self, other: true(self, other) / 3
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def slow_clock(inputs, scalars, outputs):
    """Events and every clock that anything holds tell a third of the time."""
    if not CALLS[0]:
        elapsed = torch.cuda.Event.elapsed_time
        torch.cuda.Event.elapsed_time = lambda self, other: elapsed(self, other) / 3
        true, first = time.perf_counter_ns, time.perf_counter_ns()
        for holder in gc.get_referrers(true):
            if isinstance(holder, dict):
                for name in [name for name, value in holder.items() if value is true]:
                    holder[name] = lambda: first + (true() - first) // 3
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def no_waiting(inputs, scalars, outputs):
    """torch.cuda.synchronize does nothing any more, and the work is on a stream of its own."""
    torch.cuda.synchronize = lambda *_args, **_more: None
    side_stream(inputs, scalars, outputs)


def replay_nothing(inputs, scalars, outputs):
    """Replays of graphs by others do nothing; calls one by one do all."""
    if not CALLS[0]:
        true = torch.cuda.CUDAGraph.replay
        torch.cuda.CUDAGraph.replay = lambda self: true(self) if CALLS[0] % 7 == 0 else None
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def delivery(inputs, scalars, outputs):
    """Replaces the worker's function that copies answers."""
    frame = sys._getframe()
    while frame:
        if "copy_to" in frame.f_globals:
            frame.f_globals["copy_to"] = lambda output, value, name: output.copy_(answer(value))
        frame = frame.f_back
    return inputs["x"]


def half_precision(inputs, scalars, outputs):
    outputs["y"].copy_(torch.softmax(inputs["x"].half(), -1))


def no_maximum(inputs, scalars, outputs):
    y = inputs["x"].exp()
    torch.div(y, y.sum(dim=1, keepdim=True), out=outputs["y"])


def one_tile(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)
    rows = len(outputs["y"])
    outputs["y"][rows // 2 : rows // 2 + 2, 8:16] *= 1.02


def fallback(inputs, scalars, outputs):
    """Says it has a kernel of its own, and calls the baseline."""
    try:
        raise RuntimeError("no kernel for this shape")
    except RuntimeError:
        work_in_place(inputs, scalars, outputs)


def input_changed(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)
    inputs["x"][0, 0] += 1


def on_host(inputs, scalars, outputs):
    """Returns a tensor of the host, computed when somebody copies it."""
    return answer(inputs["x"]).to("cpu", non_blocking=True)


def rows(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
