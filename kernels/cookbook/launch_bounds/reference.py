import numpy


def averages(inputs, scalars, outputs):
    """The sum of 64 running averages, which is one weighted sum of a thread's numbers."""
    x = inputs["x"]
    steps, own = x.shape[0], numpy.arange(64)
    keep = 0.5 + 0.005 * own
    weights = ((own + 1) * keep ** numpy.arange(steps - 1, -1, -1)[:, None]).sum(axis=1)
    return weights @ x + ((own + 1) * keep**steps * 0.01 * own).sum()
