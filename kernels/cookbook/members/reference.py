import numpy


def structs(shape, dims, seed):
    """Particles, one structure after another."""
    return numpy.random.default_rng(seed).random((shape[0], 8), dtype=numpy.float32)


def arrays(shape, dims, seed):
    """The same particles, an array for each member."""
    return numpy.ascontiguousarray(structs((shape[1], 8), dims, seed).T)


def members(inputs, scalars, outputs):
    """Where particles are after a step."""
    return inputs["p"][:, 0] + numpy.float32(0.01) * inputs["p"][:, 4]
