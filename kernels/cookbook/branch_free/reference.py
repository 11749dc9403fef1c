import numpy


def positive(inputs, scalars, outputs):
    """Positive elements first, then zeros."""
    y, kept = numpy.zeros_like(inputs["x"]), inputs["x"][inputs["x"] > 0]
    y[: len(kept)] = kept
    return y
