"""The honest softmax of every row: the baseline."""

import torch


def softmax(inputs, scalars, outputs):
    """y = softmax of every row of x."""
    torch.softmax(inputs["x"], dim=1, out=outputs["y"])
