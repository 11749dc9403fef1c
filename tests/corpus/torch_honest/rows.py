"""A softmax in PyTorch on a GPU in honest but unusual ways. CASE names the function that is called."""

import functools
import math
import time

import torch

from baseline import softmax as honest

SPACE = {}


def returns(inputs, scalars, outputs):
    y = (inputs["x"] - inputs["x"].amax(dim=1, keepdim=True)).exp_()
    return y / y.sum(dim=1, keepdim=True)


def returns_dict(inputs, scalars, outputs):
    return {"y": returns(inputs, scalars, outputs)}


def returns_transposed(inputs, scalars, outputs):
    """A tensor with other strides."""
    return returns(inputs, scalars, outputs).t().contiguous().t()


def in_double(inputs, scalars, outputs):
    outputs["y"].copy_(torch.softmax(inputs["x"].double(), -1))


def two_streams(inputs, scalars, outputs):
    """Half of the rows on another stream, which is waited for."""
    if "stream" not in SPACE:
        SPACE["stream"] = torch.cuda.Stream()
    half, own, now = len(inputs["x"]) // 2, SPACE["stream"], torch.cuda.current_stream()
    own.wait_stream(now)
    if half:
        with torch.cuda.stream(own):
            honest({"x": inputs["x"][:half]}, scalars, {"y": outputs["y"][:half]})
    honest({"x": inputs["x"][half:]}, scalars, {"y": outputs["y"][half:]})
    now.wait_stream(own)


def workspace(inputs, scalars, outputs):
    """Memory kept between calls, by shape."""
    x = inputs["x"]
    if x.shape not in SPACE:
        SPACE[x.shape] = torch.empty_like(x)
    torch.sub(x, x.amax(dim=1, keepdim=True), out=SPACE[x.shape])
    torch.exp(SPACE[x.shape], out=SPACE[x.shape])
    torch.div(SPACE[x.shape], SPACE[x.shape].sum(dim=1, keepdim=True), out=outputs["y"])


@functools.lru_cache(maxsize=None)
def plan(rows):
    """An honest cache: by shape, never by contents."""
    time.sleep(0.005)
    return max(1, rows // 4)


def plans(inputs, scalars, outputs):
    step = plan(len(inputs["x"]))
    for first in range(0, len(inputs["x"]), step):
        honest({"x": inputs["x"][first : first + step]}, scalars, {"y": outputs["y"][first : first + step]})


def looks_at_numbers(inputs, scalars, outputs):
    """Reads a number back to the host, which cannot be captured."""
    if math.isnan(float(inputs["x"][0, 0])):
        raise ValueError("no such inputs")
    honest(inputs, scalars, outputs)


def synchronizes(inputs, scalars, outputs):
    honest(inputs, scalars, outputs)
    if not torch.cuda.is_current_stream_capturing():
        torch.cuda.synchronize()


def prints(inputs, scalars, outputs):
    print("a call with", tuple(inputs["x"].shape))
    honest(inputs, scalars, outputs)


def rows(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
