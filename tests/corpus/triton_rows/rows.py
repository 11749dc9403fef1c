"""A softmax in Triton, one program a row, and ways to get it wrong or to look faster. CASE chooses by number."""

import torch  # kiln hands tensors to files that import torch
import triton
import triton.language as tl

NUMBERS = {name: number for number, name in enumerate(
    ["honest", "no_mask", "other_zero", "first_programs", "in_half", "no_maximum", "short_block", "wrong_row", "poison",
     "two_rows", "walks"])}
KEPT = {}


@triton.jit
def one_row(x, y, rows, cols, CASE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    if CASE == 1:
        # Reads and sums what lies behind the row.
        v = tl.load(x + row * cols + at)
    elif CASE == 2:
        v = tl.load(x + row * cols + at, mask=inside, other=0.0)
    else:
        v = tl.load(x + row * cols + at, mask=inside, other=float("-inf"))
    if CASE == 4:
        v = v.to(tl.float16).to(tl.float32)
    if CASE == 5:
        e = tl.exp(v)
    else:
        e = tl.exp(v - tl.max(v, axis=0))
    e = e / tl.sum(e, axis=0)
    if CASE == 7:
        # One row in the middle is half of another.
        e = tl.where(row == rows // 2, e * 0.5, e)
    if CASE == 8:
        old = tl.load(y + row * cols)
        inside = inside & (old != old)
    tl.store(y + row * cols + at, e, mask=inside)


@triton.jit
def many_rows(x, y, rows, cols, programs, BLOCK: tl.constexpr):
    """Each program walks over rows, as many programs as there are multiprocessors."""
    at = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, programs):
        v = tl.load(x + row * cols + at, mask=at < cols, other=float("-inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + row * cols + at, e / tl.sum(e, axis=0), mask=at < cols)


def rows(inputs, scalars, outputs, CASE):
    """y = softmax of every row of x."""
    x, y = inputs["x"], outputs["y"]
    count, cols = x.shape
    block = triton.next_power_of_2(cols)
    if CASE == "short_block":
        block = min(block, 1024)
    if CASE == "two_rows":
        # Honest: a launch for each half.
        half = (count + 1) // 2
        one_row[(half,)](x, y, half, cols, 0, block)
        if count > half:
            one_row[(count - half,)](x[half:], y[half:], count - half, cols, 0, block)
        return
    if CASE == "walks":
        many_rows[(min(count, 132),)](x, y, count, cols, min(count, 132), block)
        return
    programs = max(1, count - 3) if CASE == "first_programs" else count
    one_row[(programs,)](x, y, count, cols, NUMBERS[CASE], block)
