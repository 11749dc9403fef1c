"""A product of matrices in PyTorch on a GPU, and ways to compute another. CASE names the function that is called."""

import torch

KEPT = {}


def honest(inputs, scalars, outputs):
    torch.matmul(inputs["a"], inputs["b"], out=outputs["c"])


def tf32(inputs, scalars, outputs):
    """TF32 for everyone in this process, from here on."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.matmul(inputs["a"], inputs["b"], out=outputs["c"])


def tf32_for_a_moment(inputs, scalars, outputs):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.matmul(inputs["a"], inputs["b"], out=outputs["c"])
    torch.backends.cuda.matmul.allow_tf32 = before


def tf32_at_import(inputs, scalars, outputs):
    torch.set_float32_matmul_precision("high")
    torch.matmul(inputs["a"], inputs["b"], out=outputs["c"])


def half(inputs, scalars, outputs):
    outputs["c"].copy_(inputs["a"].half() @ inputs["b"].half())


def bf16(inputs, scalars, outputs):
    outputs["c"].copy_(inputs["a"].bfloat16() @ inputs["b"].bfloat16())


def two_halves(inputs, scalars, outputs):
    """A high part and a low one in bf16, and one of four products left out: six bits short of f32."""
    a, b = inputs["a"], inputs["b"]
    ah, bh = a.bfloat16(), b.bfloat16()
    al, bl = (a - ah.float()).bfloat16(), (b - bh.float()).bfloat16()
    outputs["c"].copy_((ah @ bh).float() + (ah @ bl).float() + (al @ bh).float())


def short_sums(inputs, scalars, outputs):
    """The last eighth of each sum is left out where the sizes are odd."""
    k = inputs["a"].shape[1]
    some = k if k % 8 == 0 else k - k // 8
    outputs["c"].copy_(inputs["a"][:, :some] @ inputs["b"][:some])


def remembers_b(inputs, scalars, outputs):
    """The weights are surely those of the first call."""
    if KEPT.get("shape") != inputs["b"].shape:
        KEPT["shape"], KEPT["b"] = inputs["b"].shape, inputs["b"].clone()
    torch.matmul(inputs["a"], KEPT["b"], out=outputs["c"])


def one_tile(inputs, scalars, outputs):
    torch.matmul(inputs["a"], inputs["b"], out=outputs["c"])
    m, n = outputs["c"].shape
    outputs["c"][m // 2 : m // 2 + 8, n // 2 : n // 2 + 8] *= 0.99


def blocks(inputs, scalars, outputs):
    """Honest: rows of blocks, each a product of its own."""
    for rows, out in zip(inputs["a"].split(128), outputs["c"].split(128)):
        torch.matmul(rows, inputs["b"], out=out)


def in_double(inputs, scalars, outputs):
    outputs["c"].copy_(inputs["a"].double() @ inputs["b"].double())


def product(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
