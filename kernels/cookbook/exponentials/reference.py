import numpy


def exponentials(inputs, scalars, outputs):
    """The sum of exp(-k x) for k from 1 to 32."""
    base = numpy.exp(-inputs["x"])
    total, power = numpy.zeros_like(base), numpy.ones_like(base)
    for _ in range(32):
        power = power * base
        total = total + power
    return total
