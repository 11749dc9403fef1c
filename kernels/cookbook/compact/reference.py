import numpy


def steps(inputs, scalars, outputs):
    """256 steps of a recurrence for elements above 1.15."""
    x, kept = inputs["x"], 0.99**256
    return numpy.where(x > numpy.float32(1.15), x * kept + 0.5 * (1 - kept), x)
