def stencil(inputs, scalars, outputs):
    x = inputs["x_old"]
    near = x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1]
    outputs["x_new"][1:-1, 1:-1] = near / 5
