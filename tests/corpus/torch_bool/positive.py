"""Which numbers are positive. CASE names the function that is called."""

import torch


def honest(x, y):
    torch.gt(x, 0, out=y)


def returns(x, y):
    return x > 0


def by_bytes(x, y):
    """Written as bytes, which are 0 and 1."""
    y.view(torch.uint8).copy_((x > 0).to(torch.uint8))


def not_one(x, y):
    """True as it comes: any byte but 0."""
    y.view(torch.uint8).copy_((x > 0).to(torch.uint8) * 255)


def positive(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs["x"], outputs["y"])
