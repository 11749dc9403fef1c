import numpy


def rows(shape, dims, seed):
    random = numpy.random.default_rng(seed)
    ends = numpy.sort(random.integers(0, dims["NONZERO"] + 1, shape[0]))
    ends[0], ends[-1] = 0, dims["NONZERO"]
    return ends
