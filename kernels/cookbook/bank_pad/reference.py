import numpy


def sums(inputs, scalars, outputs):
    """Running sums along rows."""
    return numpy.cumsum(inputs["x"], axis=1)
