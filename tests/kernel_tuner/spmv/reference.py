import numpy


def product(inputs, scalars, outputs):
    terms = inputs["values"] * inputs["x"][inputs["cols"]]
    before = numpy.concatenate(([0.0], numpy.cumsum(terms, dtype=numpy.float64)))
    outputs["y"][...] = before[inputs["rows"][1:]] - before[inputs["rows"][:-1]]
