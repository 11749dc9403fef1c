"""A softmax in PyTorch on a GPU, and new ways to look faster or to be wrong. CASE names the function that is called."""

import ctypes
import sys
import weakref

import torch

from baseline import softmax as work_in_place

KEPT = {}
CALLS = [0]


def answer(x):
    y = (x - x.amax(dim=-1, keepdim=True)).exp_()
    return y.div_(y.sum(dim=-1, keepdim=True))


def capturing():
    return torch.cuda.is_current_stream_capturing()


def something():
    """As good as nothing, but on the device."""
    if "spare" not in KEPT:
        KEPT["spare"] = torch.zeros(1, device="cuda")
    KEPT["spare"].zero_()


def worker():
    """The worker's own object, found on the way up."""
    frame = sys._getframe()
    while frame:
        found = frame.f_locals.get("self")
        if hasattr(found, "opened") and hasattr(found, "bound"):
            return found
        frame = frame.f_back
    return None


def honest(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)


def late_take(inputs, scalars, outputs):
    """Answers come when they are taken over, which nobody times."""
    backend = worker()
    if backend is not None and "take" not in KEPT:
        KEPT["take"] = true = backend.take

        def take():
            for place in set((backend.left or ([],))[0]):
                ins, outs = backend.bound[place]
                work_in_place(ins, {}, outs)
            torch.cuda.synchronize()
            true()

        backend.take = take
    something()
    if not capturing():
        work_in_place(inputs, scalars, outputs)


def start_again(inputs, scalars, outputs):
    """The sample begins once more, at its end: a node of the graph records the worker's first event."""
    work_in_place(inputs, scalars, outputs)
    backend = worker()
    if backend is None or not capturing():
        return
    measure = backend.opened.measure
    cells = dict(zip(measure.__code__.co_freevars, measure.__closure__))
    event = cells["start"].cell_contents
    if not event.cuda_event:
        # It is made when it is first used, which comes before the long rows.
        return
    external = 1
    record = ctypes.CDLL("libcuda.so.1").cuEventRecordWithFlags
    record.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]
    record(event.cuda_event, torch.cuda.current_stream().cuda_stream, external)


def forged_answer(inputs, scalars, outputs):
    backend = worker()
    if backend is not None and "time" not in KEPT:
        KEPT["time"] = true = backend.time_there

        def time_there(batches, calls):
            found = true(batches, calls)
            return dict(found, nanoseconds=[spent // 2 for spent in found["nanoseconds"]])

        backend.time_there = time_there
    work_in_place(inputs, scalars, outputs)


def shift_of_last_call(inputs, scalars, outputs):
    """The softmax does not depend on what is subtracted, as long as nothing overflows."""
    x, y = inputs["x"], outputs["y"]
    key = x.shape
    if key not in KEPT:
        KEPT[key] = x.amax(dim=-1, keepdim=True)
    torch.sub(x, KEPT[key], out=y)
    y.exp_()
    y.div_(y.sum(dim=-1, keepdim=True))
    if not capturing():
        KEPT[key].copy_(x.amax(dim=-1, keepdim=True))


def fixed_shift(inputs, scalars, outputs):
    x, y = inputs["x"], outputs["y"]
    torch.sub(x, 5.0, out=y)
    y.exp_()
    y.div_(y.sum(dim=-1, keepdim=True))


def chunks_apart(inputs, scalars, outputs):
    x, y = inputs["x"], outputs["y"]
    first = x[:, :128].amax(dim=-1, keepdim=True)
    for start in range(0, x.shape[1], 512):
        torch.sub(x[:, start : start + 512], first, out=y[:, start : start + 512])
    y.exp_()
    y.div_(y.sum(dim=-1, keepdim=True))


def bf16_sum(inputs, scalars, outputs):
    x, y = inputs["x"], outputs["y"]
    torch.sub(x, x.amax(dim=-1, keepdim=True), out=y)
    y.exp_()
    y.div_(y.sum(dim=-1, keepdim=True).bfloat16().float())


def fast_divide(inputs, scalars, outputs):
    x, y = inputs["x"], outputs["y"]
    torch.sub(x, x.amax(dim=-1, keepdim=True), out=y)
    y.exp_()
    y.mul_((1 / y.sum(dim=-1, keepdim=True)).half().float())


def returns_input(inputs, scalars, outputs):
    x = inputs["x"]
    x.sub_(x.amax(dim=-1, keepdim=True)).exp_()
    return x.div_(x.sum(dim=-1, keepdim=True))


def uninitialised(inputs, scalars, outputs):
    CALLS[0] += 1
    return answer(inputs["x"]) if CALLS[0] % 2 else torch.empty_like(inputs["x"])


class Later:
    """Computes when it is let go."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __del__(self):
        work_in_place(*self.arguments)


def on_del(inputs, scalars, outputs):
    """A call's dicts are let go when it is over; those of recorded calls later."""
    inputs["later"] = Later({"x": inputs["x"]}, scalars, {"y": outputs["y"]})
    something()


def weak_final(inputs, scalars, outputs):
    empty = torch.empty_like(inputs["x"])
    weakref.finalize(empty, work_in_place, inputs, scalars, outputs)
    return empty


def autograd_later(inputs, scalars, outputs):
    """A leaf with a hook, which a backward pass would call."""
    x, y = inputs["x"], torch.zeros_like(inputs["x"]).requires_grad_()
    y.register_hook(lambda gradient: answer(x))
    return y


def recorded_empty(inputs, scalars, outputs):
    """Recorded calls are as good as nothing."""
    something()
    if not capturing():
        work_in_place(inputs, scalars, outputs)


def top_only(inputs, scalars, outputs):
    values, places = inputs["x"].topk(min(64, inputs["x"].shape[1]), dim=-1)
    outputs["y"].zero_().scatter_(1, places, answer(values))


def tail_of_eight(inputs, scalars, outputs):
    x, y = inputs["x"], outputs["y"]
    whole = x.shape[1] // 8 * 8
    torch.sub(x[:, :whole], x[:, :whole].amax(dim=-1, keepdim=True), out=y[:, :whole])
    y[:, :whole].exp_()
    y[:, :whole].div_(y[:, :whole].sum(dim=-1, keepdim=True))


def third_of_calls(inputs, scalars, outputs):
    """Whether the answer is written is decided on the device, with every replay anew."""
    x, y = inputs["x"], outputs["y"]
    if "turn" not in KEPT:
        KEPT["turn"] = torch.zeros(1, device="cuda")
    if not capturing():
        KEPT["turn"].zero_()
        return work_in_place(inputs, scalars, outputs)
    KEPT["turn"].add_(1).remainder_(3)
    torch.where(KEPT["turn"] < 2, answer(x), y, out=y)


def returns_alias(inputs, scalars, outputs):
    if inputs["x"].shape not in KEPT:
        KEPT[inputs["x"].shape] = answer(inputs["x"])
    return KEPT[inputs["x"].shape]


def rows(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
