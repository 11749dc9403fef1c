"""The baseline: twice a number, at once."""

import torch


def double(inputs, scalars, outputs):
    """y = 2 x."""
    torch.mul(inputs["x"], 2, out=outputs["y"])
