"""Calls the exported package on the stand-in for torch; the stand-in driver writes what it would launch. Prints the addresses of each
call's tensors, and what must be refused."""

import sys

import torch
from scaled_rows import scaled_rows
import scaled_rows as package

bf16, f16 = torch.bfloat16, torch.float16


def words(plan):
    return {name: word.value for name, word in plan.words.items()}


plans = []
bind = package._bind
package._bind = lambda plan: plans.append(plan) or bind(plan)


def call(*args, **kwargs):
    before = len(plans)
    made = scaled_rows(*args, **kwargs)
    plan = plans[-1] if len(plans) > before else None
    if plan is not None:
        values = words(plan)
        print("call", *["%s=%d" % pair for pair in values.items()])
    return made


for shape, dtype, more in (
    ((2, 64, 64), bf16, {}), ((2, 100, 64), bf16, {}), ((8, 3000, 64), f16, {"flip": True, "scale": 0.5}),
    ((2, 63, 64), bf16, {}), ((4, 256, 128), f16, {"flip": True}), ((4, 8192, 64), bf16, {}),
):
    y = call(torch.tensor(shape, dtype), **more)
    assert y.shape == shape and y.dtype is dtype and y.stride() == torch.packed(shape), y
b, n, d = 4, 256, 128
call(torch.tensor((b, n, d), f16, strides=(d, b * d, 1)))
x = torch.tensor((2, 64, 64), bf16)
first, second = scaled_rows(x), scaled_rows(x, scale=2.0)
assert first is not second and len(plans) == 7, len(plans)
# The second of two calls alike is known by one comparison; flipped, it is another.
before = len(torch.checked)
scaled_rows(x), scaled_rows(x, flip=True), scaled_rows(x, flip=True)
assert torch.checked[before:] == [True, True, True] and len(plans) == 8, (torch.checked[before:], len(plans))
# Strides that no layout has, and an address that is no multiple of 16, are copied.
scaled_rows(torch.tensor((2, 64, 64), bf16, strides=(1, 2, 128)))
scaled_rows(torch.tensor((2, 64, 64), bf16, offset=2))
assert torch.copies == [((1, 2, 128), (4096, 64, 1)), ((4096, 64, 1), (4096, 64, 1))], torch.copies
assert "kiln_scaled_rows::scaled_rows" in torch.calls
assert torch.calls["kiln_scaled_rows::scaled_rows"] == "(Tensor x, bool flip=False, float? scale=None) -> Tensor"
x.requires_grad = True
for bad in (lambda: scaled_rows(x), lambda: scaled_rows(torch.tensor((2, 64, 96), bf16)),
            lambda: scaled_rows(torch.tensor((2, 64), bf16)), lambda: scaled_rows(torch.tensor((2, 64, 64), torch.float32)),
            lambda: scaled_rows(3)):
    try:
        bad()
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        print("refused", error)
    else:
        sys.exit("not refused")
