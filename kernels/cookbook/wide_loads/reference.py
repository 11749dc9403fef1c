import numpy


def brighter(inputs, scalars, outputs):
    """40 more, 255 at most."""
    return numpy.minimum(inputs["x"].astype(numpy.int32) + 40, 255)
