import numpy


def angles(seed):
    return numpy.sort(numpy.random.default_rng(seed).uniform(0, 2 * numpy.pi, 600))[::-1]


def vertices(shape, dims, seed):
    """Corners on the unit circle, in order."""
    at = angles(seed)
    return numpy.stack((numpy.cos(at), numpy.sin(at)), axis=-1).astype(numpy.float32)


def slopes(shape, dims, seed):
    """dx / dy of the edge that ends in each corner. A level edge crosses no line that the kernel asks about."""
    corners = vertices(None, dims, seed)
    before = numpy.roll(corners, 1, axis=0)
    rise = before[:, 1] - corners[:, 1]
    level = rise == 0
    return numpy.where(level, 0, (before[:, 0] - corners[:, 0]) / numpy.where(level, 1, rise)).astype(numpy.float32)


def points(shape, dims, seed):
    """Half of them well inside of every edge, half of them well outside, none level with the highest or the lowest
    corner: methods 2 and 3 count that corner as an edge."""
    gaps = numpy.diff(angles(seed)[::-1], append=angles(seed)[-1] + 2 * numpy.pi)
    random = numpy.random.default_rng([seed, 1])
    inner = 0.999 * numpy.cos(gaps.max() / 2)
    radius = numpy.where(random.random(shape[0]) < 0.5, inner * random.random(shape[0]), random.uniform(1.001, 3, shape[0]))
    angle = random.uniform(0, 2 * numpy.pi, shape[0])
    found = numpy.stack((radius * numpy.cos(angle), radius * numpy.sin(angle)), axis=-1).astype(numpy.float32)
    heights = vertices(None, dims, seed)[:, 1]
    found[numpy.isin(found[:, 1], (heights.min(), heights.max()))] = 0
    return found
