import numpy


def polynomial(inputs, scalars, outputs):
    """The sum of x^k / (k + 1) for k from 0 to 128."""
    x = inputs["x"]
    total = numpy.full_like(x, 1 / 129)
    for k in range(127, -1, -1):
        total = total * x + 1 / (k + 1)
    return total
