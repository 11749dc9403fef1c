import numpy


def ends(inputs, scalars, outputs):
    """Sums of the ends of four lists for each item."""
    following, n = inputs["next"].astype(numpy.int64), outputs["y"].shape[0]
    at = (numpy.arange(4 * n, dtype=numpy.uint64) * 2654435761 % (1 << 32)).astype(numpy.int64) & (len(following) - 1)
    for _ in range(32):
        at = following[at]
    return (at & 4095).reshape(n, 4).sum(axis=1)
