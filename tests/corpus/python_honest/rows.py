"""A softmax in NumPy in honest but unusual ways. CASE names the function that is called."""

import functools
import math
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy

from baseline import softmax as honest

POOL = []
SPACE = {}


def returns(inputs, scalars, outputs):
    y = numpy.exp(inputs["x"] - inputs["x"].max(axis=1, keepdims=True))
    return y / y.sum(axis=1, keepdims=True)


def returns_dict(inputs, scalars, outputs):
    return {"y": returns(inputs, scalars, outputs)}


def returns_kept(inputs, scalars, outputs):
    """The same memory for every answer of a shape."""
    x = inputs["x"]
    y = SPACE.setdefault(x.shape, numpy.empty_like(x))
    numpy.exp(numpy.subtract(x, x.max(axis=1, keepdims=True), out=y), out=y)
    y /= y.sum(axis=1, keepdims=True)
    return y


def returns_double(inputs, scalars, outputs):
    return returns({"x": inputs["x"].astype("float64")}, scalars, outputs)


def returns_view(inputs, scalars, outputs):
    y = returns(inputs, scalars, outputs)
    return y if inputs["x"].flat[0] > 0 else y[:, ::1]


def returns_output(inputs, scalars, outputs):
    honest(inputs, scalars, outputs)
    return outputs["y"]


def returns_transposed(inputs, scalars, outputs):
    """A view with its strides exchanged twice over."""
    return numpy.ascontiguousarray(returns(inputs, scalars, outputs).T).T


def in_double(inputs, scalars, outputs):
    y = numpy.exp(inputs["x"].astype("float64") - inputs["x"].max(axis=1, keepdims=True))
    outputs["y"][...] = y / y.sum(axis=1, keepdims=True)


def row_by_row(inputs, scalars, outputs):
    for row, out in zip(inputs["x"], outputs["y"]):
        out[...] = numpy.exp(row - row.max())
        out /= out.sum()


def plain_python(inputs, scalars, outputs):
    """Lists and a loop: no NumPy but for the copies."""
    for row, out in zip(inputs["x"].tolist(), outputs["y"]):
        most = max(row)
        powers = [math.exp(v - most) for v in row]
        total = sum(powers)
        out[...] = [power / total for power in powers]


@functools.lru_cache(maxsize=None)
def plan(shape, words):
    """An honest cache: by shape, never by contents."""
    found = re.match(words, "block=16")
    time.sleep(0.005)
    return int(found.group(1)) if shape else 1


def plans(inputs, scalars, outputs):
    step = plan(inputs["x"].shape, r"block=(\d+)")
    for first in range(0, len(inputs["x"]), step):
        x, y = inputs["x"][first : first + step], outputs["y"][first : first + step]
        numpy.exp(x - x.max(axis=1, keepdims=True), out=y)
        y /= y.sum(axis=1, keepdims=True)


def workspace(inputs, scalars, outputs):
    """Memory kept between calls, by shape."""
    shape = inputs["x"].shape
    space = SPACE.setdefault(shape, numpy.empty(shape, "float32"))
    numpy.subtract(inputs["x"], inputs["x"].max(axis=1, keepdims=True), out=space)
    numpy.exp(space, out=space)
    numpy.divide(space, space.sum(axis=1, keepdims=True), out=outputs["y"])


def prints(inputs, scalars, outputs):
    print("a call with", inputs["x"].shape)
    print("and a word to the other stream", file=sys.stderr)
    honest(inputs, scalars, outputs)


def threads(inputs, scalars, outputs):
    """Two threads, waited for."""
    if not POOL:
        POOL.append(ThreadPoolExecutor(2))
    half = len(inputs["x"]) // 2
    parts = [slice(0, half), slice(half, None)]
    list(POOL[0].map(lambda part: honest({"x": inputs["x"][part]}, scalars, {"y": outputs["y"][part]}) if inputs["x"][part].size else None, parts))


def imports_late(inputs, scalars, outputs):
    from fractions import Fraction

    honest(inputs, scalars, outputs)
    outputs["y"] *= float(Fraction(1, 1))


def sleeps(inputs, scalars, outputs):
    time.sleep(0.0001)
    honest(inputs, scalars, outputs)


def times_itself(inputs, scalars, outputs):
    start = time.perf_counter_ns()
    honest(inputs, scalars, outputs)
    SPACE["ns"] = SPACE.get("ns", 0) + time.perf_counter_ns() - start


def rows(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
