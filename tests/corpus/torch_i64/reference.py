"""Running sums, exact."""

import numpy


def scan(inputs, scalars, outputs):
    outputs["y"][...] = numpy.cumsum(numpy.asarray(inputs["x"]), dtype=numpy.int64)
