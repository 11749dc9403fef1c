import numpy


def cross_term(inputs, scalars, outputs):
    m = int(scalars["m"])
    a, b = inputs["A"][: 2 * m].reshape(2, m), inputs["B"][: 2 * m].reshape(2, m)
    distance = sum((a[d][:, None] - b[d][None, :]) ** 2 for d in range(2))
    scale = inputs["scale_A"][:m, None] + inputs["scale_B"][None, :m]
    outputs["cross_term"][...] = numpy.exp(-distance / scale).sum()
