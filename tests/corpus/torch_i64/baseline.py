"""Running sums: the baseline."""

import torch


def scan(inputs, scalars, outputs):
    torch.cumsum(inputs["x"], 0, dtype=torch.int64, out=outputs["y"])
