"""Layer norm, in the precision of its inputs."""

import numpy


def layernorm(inputs, scalars, outputs):
    """y = (x - mean) / sqrt(variance + eps) * weight + bias, for every row of x."""
    x = inputs["x"]
    off = x - x.mean(axis=-1, keepdims=True)
    variance = (off * off).mean(axis=-1, keepdims=True)
    outputs["y"][...] = off / numpy.sqrt(variance + scalars["eps"]) * inputs["weight"] + inputs["bias"]
