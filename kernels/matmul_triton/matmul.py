"""The product of two matrices in Triton: a program owns one tile of c. Tiles of c are taken in groups of GROUP_M rows, whose columns
of b then are in the L2 cache."""

import torch  # kiln hands tensors to files that import torch
import triton
import triton.language as tl


@triton.jit
def matmul_tiles(a, b, c, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                 GROUP_M: tl.constexpr, EVEN_K: tl.constexpr):
    program = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    group = program // (GROUP_M * tiles_n)
    first = group * GROUP_M
    rows = tl.minimum(tiles_m - first, GROUP_M)
    within = program % (GROUP_M * tiles_n)
    tile_m, tile_n = first + within % rows, within // rows
    at_m = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    at_n = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    # Rows and columns beyond the matrix are those of another tile, and are not written.
    of_a = a + (at_m % m)[:, None] * k + tl.arange(0, BLOCK_K)[None, :]
    of_b = b + tl.arange(0, BLOCK_K)[:, None].to(tl.int64) * n + (at_n % n)[None, :]
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        if EVEN_K:
            left, right = tl.load(of_a), tl.load(of_b)
        else:
            rest = k - step * BLOCK_K
            left = tl.load(of_a, mask=tl.arange(0, BLOCK_K)[None, :] < rest, other=0.0)
            right = tl.load(of_b, mask=tl.arange(0, BLOCK_K)[:, None] < rest, other=0.0)
        total = tl.dot(left, right, total)
        of_a += BLOCK_K
        of_b += BLOCK_K * n
    inside = (at_m < m)[:, None] & (at_n < n)[None, :]
    tl.store(c + at_m[:, None] * n + at_n[None, :], total.to(c.dtype.element_ty), mask=inside)


def matmul(inputs, scalars, outputs, *, BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, num_warps, num_stages):
    """c = a b."""
    a, b, c = inputs["a"], inputs["b"], outputs["c"]
    (m, k), n = a.shape, b.shape[1]
    matmul_tiles[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        a, b, c, m, n, k, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K, GROUP_M=GROUP_M, EVEN_K=k % BLOCK_K == 0,
        num_warps=num_warps, num_stages=num_stages
    )
