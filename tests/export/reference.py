"""Rows times a number."""


def scaled(inputs, scalars, outputs):
    outputs["y"][...] = inputs["x"] * scalars["scale"]
