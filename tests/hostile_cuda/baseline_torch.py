"""The baseline: right, and the work done twice."""

import torch


def twice(inputs, scalars, outputs):
    """y = 2 x + 1, in four passes."""
    for _ in range(2):
        torch.mul(inputs["x"], 2, out=outputs["y"])
        outputs["y"].add_(1)
