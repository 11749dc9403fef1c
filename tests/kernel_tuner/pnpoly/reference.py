def inside(inputs, scalars, outputs):
    points = inputs["points"]
    outputs["bitmap"][...] = points[:, 0] ** 2 + points[:, 1] ** 2 < 1
