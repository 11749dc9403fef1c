"""Which numbers are positive."""

import numpy


def positive(inputs, scalars, outputs):
    outputs["y"][...] = numpy.asarray(inputs["x"]) > 0
