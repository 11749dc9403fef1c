"""Running sums of integers. CASE names the function that is called."""

import torch


def honest(x, y):
    torch.cumsum(x, 0, dtype=torch.int64, out=y)


def returns(x, y):
    return x.long().cumsum(0)


def in_double(x, y):
    """Sums of 300001 integers of 32 bits fit 53 bits: exact."""
    y.copy_(x.double().cumsum(0).round_())


def blocks(x, y):
    """Sums of blocks, and what comes before each."""
    padded = torch.nn.functional.pad(x.long(), (0, -len(x) % 1024)).view(-1, 1024)
    inner = padded.cumsum(1)
    before = inner[:, -1].cumsum(0) - inner[:, -1]
    y.copy_((inner + before[:, None]).view(-1)[: len(x)])


def in_int32(x, y):
    """Wraps where sums are large."""
    y.copy_(x.cumsum(0, dtype=torch.int32))


def in_float(x, y):
    y.copy_(x.float().cumsum(0))


def scan(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs["x"], outputs["y"])
