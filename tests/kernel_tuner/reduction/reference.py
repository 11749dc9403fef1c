import numpy


def total(inputs, scalars, outputs):
    outputs["sums"][...] = numpy.sum(inputs["x"])
