"""Softmax with NumPy's loops."""

import numpy as np


def numpy(inputs, scalars, outputs):
    """y = softmax of every row of x."""
    x, y = inputs["x"], outputs["y"]
    np.subtract(x, x.max(axis=1, keepdims=True), out=y)
    np.exp(y, out=y)
    y /= y.sum(axis=1, keepdims=True)
