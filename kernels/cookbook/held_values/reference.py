import numpy


def walk(inputs, scalars, outputs):
    """The sum of a thread's numbers and of the nodes on its walk."""
    following, n = inputs["next"].astype(numpy.int64), inputs["x"].shape[1]
    at = (numpy.arange(n, dtype=numpy.uint64) * 2654435761 % (1 << 32)).astype(numpy.int64) & (len(following) - 1)
    total = inputs["x"].sum(axis=0)
    for _ in range(24):
        at = following[at]
        total = total + (at & 255)
    return total
