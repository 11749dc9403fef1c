import numpy


def most(inputs, scalars, outputs):
    """The largest of each window of eight."""
    y = inputs["x"].copy()
    for k in range(1, 8):
        y[:-k] = numpy.maximum(y[:-k], inputs["x"][k:])
    return y
