"""Layer norm of every row in Triton. A program owns ROWS rows at a time; a row that fits into BLOCK is read once, a longer one is
walked over twice: once for the mean and the variance, once more to write."""

import torch  # kiln hands tensors to files that import torch
import triton
import triton.language as tl


@triton.jit
def layernorm_rows(x, weight, bias, y, rows, cols, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr, WHOLE: tl.constexpr,
                   STAGES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    lanes = tl.arange(0, BLOCK)[None, :]
    there = row < rows
    if WHOLE:
        inside = there & (lanes < cols)
        part = tl.load(x + row * cols + lanes, mask=inside, other=0.0).to(tl.float32)
        mean = tl.sum(part, axis=1, keep_dims=True) / cols
        off = tl.where(inside, part - mean, 0.0)
        scale = tl.rsqrt(tl.sum(off * off, axis=1, keep_dims=True) / cols + eps)
        w = tl.load(weight + lanes, mask=lanes < cols, other=0.0).to(tl.float32)
        b = tl.load(bias + lanes, mask=lanes < cols, other=0.0).to(tl.float32)
        tl.store(y + row * cols + lanes, (off * scale * w + b).to(y.dtype.element_ty), mask=inside)
    else:
        # Sums of what differs from the row's first number: numbers far from zero lose nothing.
        first = tl.load(x + row * cols, mask=there, other=0.0).to(tl.float32)
        total = tl.zeros([ROWS, BLOCK], tl.float32)
        square = tl.zeros([ROWS, BLOCK], tl.float32)
        for start in tl.range(0, cols, BLOCK, num_stages=STAGES):
            at = start + lanes
            inside = there & (at < cols)
            part = tl.load(x + row * cols + at, mask=inside, other=0.0).to(tl.float32)
            part = tl.where(inside, part - first, 0.0)
            total += part
            square += part * part
        mean = tl.sum(total, axis=1, keep_dims=True) / cols
        variance = tl.sum(square, axis=1, keep_dims=True) / cols - mean * mean
        scale = tl.rsqrt(tl.maximum(variance, 0.0) + eps)
        for start in tl.range(0, cols, BLOCK, num_stages=STAGES):
            at = start + lanes
            inside = there & (at < cols)
            part = tl.load(x + row * cols + at, mask=inside, other=0.0).to(tl.float32)
            w = tl.load(weight + at, mask=at < cols, other=0.0).to(tl.float32)
            b = tl.load(bias + at, mask=at < cols, other=0.0).to(tl.float32)
            tl.store(y + row * cols + at, ((part - first - mean) * scale * w + b).to(y.dtype.element_ty), mask=inside)


def layernorm(inputs, scalars, outputs, *, ROWS, BLOCK, num_warps, num_stages):
    """y = (x - mean) / sqrt(variance + eps) * weight + bias, for every row of x."""
    x, y = inputs["x"], outputs["y"]
    rows, cols = x.shape
    layernorm_rows[(triton.cdiv(rows, ROWS),)](
        x, inputs["weight"], inputs["bias"], y, rows, cols, scalars["eps"], ROWS=ROWS, BLOCK=BLOCK, WHOLE=cols <= BLOCK,
        STAGES=num_stages, num_warps=num_warps, num_stages=num_stages
    )
