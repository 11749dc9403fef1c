import numpy


def largest(inputs, scalars, outputs):
    """The eight largest of each column, in order."""
    return -numpy.sort(numpy.partition(-inputs["x"], 7, axis=0)[:8], axis=0)
