import numpy


def filtered(inputs, scalars, outputs):
    x, weights = inputs["x"], inputs["weights"]
    windows = numpy.lib.stride_tricks.sliding_window_view(x, len(weights))
    outputs["y"][...] = inputs["factor"][0] * (windows @ weights)
