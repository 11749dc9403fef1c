"""Softmax of every row in Triton, one program a row. Rows longer than BLOCK are walked over twice: once for the maximum
and the sum, each lane of the block keeping its own, and once more to write."""

import torch  # kiln hands tensors to files that import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, cols, BLOCK: tl.constexpr, STAGES: tl.constexpr, WHOLE: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    lanes = tl.arange(0, BLOCK)
    if WHOLE:
        inside = lanes < cols
        row = tl.load(x + first + lanes, mask=inside, other=float("-inf"))
        row = tl.exp(row - tl.max(row, axis=0))
        tl.store(y + first + lanes, row / tl.sum(row, axis=0), mask=inside)
    else:
        # Finite, so that a lane that has seen nothing yet subtracts no infinities.
        most = tl.full([BLOCK], -3.0e38, tl.float32)
        total = tl.zeros([BLOCK], tl.float32)
        for start in tl.range(0, cols, BLOCK, num_stages=STAGES):
            at = start + lanes
            part = tl.load(x + first + at, mask=at < cols, other=-3.0e38)
            more = tl.maximum(most, part)
            total = total * tl.exp(most - more) + tl.where(at < cols, tl.exp(part - more), 0.0)
            most = more
        peak = tl.max(most, axis=0)
        share = 1.0 / tl.sum(total * tl.exp(most - peak), axis=0)
        for start in tl.range(0, cols, BLOCK, num_stages=STAGES):
            at = start + lanes
            part = tl.load(x + first + at, mask=at < cols, other=0.0)
            tl.store(y + first + at, tl.exp(part - peak) * share, mask=at < cols)


def softmax(inputs, scalars, outputs, *, BLOCK, num_warps, num_stages):
    """y = softmax of every row of x."""
    x, y = inputs["x"], outputs["y"]
    rows, cols = x.shape
    softmax_rows[(rows,)](
        x, y, cols, BLOCK=BLOCK, STAGES=num_stages, WHOLE=cols <= BLOCK, num_warps=num_warps, num_stages=num_stages
    )
