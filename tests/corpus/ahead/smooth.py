"""The recurrence, in double precision."""


def smooth(inputs, scalars, outputs):
    s = 0.0
    for i, value in enumerate(inputs["x"].tolist()):
        s = 0.75 * s + value
        outputs["y"][i] = s
