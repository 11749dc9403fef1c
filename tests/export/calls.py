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
# Nothing is launched where there is nothing to do.
before = len(plans)
for shape in (0, 64, 64), (2, 0, 64):
    y = scaled_rows(torch.tensor(shape, bf16))
    assert y.shape == shape and len(plans) == before, y
# A reload keeps the operation that torch knows already; its backward says that there is none.
import importlib
again = importlib.reload(package)
assert again.scaled_rows(torch.tensor((0, 64, 64), bf16)).shape == (0, 64, 64)
try:
    torch.backwards["kiln_scaled_rows::scaled_rows"]()
except RuntimeError as error:
    assert "scaled_rows has no backward" in str(error), error
else:
    sys.exit("a backward")
refuse = torch.tensor((2, 64, 64), bf16)
for words, bad in (
    ("`B % 2 == 0` does not hold for B=3", lambda: scaled_rows(torch.tensor((3, 64, 64), bf16))),
    ("`B % 2 == 0` does not hold for B=3", lambda: package._fake(torch.tensor((3, 64, 64), bf16))),
    ("`scale >= 0` does not hold for scale=-1.0", lambda: scaled_rows(refuse, scale=-1.0)),
    ("`scale >= 0` does not hold for scale=nan", lambda: scaled_rows(refuse, scale=float("nan"))),
    ("`scale >= 0` does not hold for scale=-0.5", lambda: package._fake(refuse, False, -0.5)),
    ("flip is 0.5, expected True or False", lambda: scaled_rows(refuse, flip=0.5)),
    ("flip is None, expected True or False", lambda: scaled_rows(refuse, flip=None)),
    ("flip is 2, expected True or False", lambda: scaled_rows(refuse, flip=2)),
    ("x is NoneType, expected a torch tensor", lambda: scaled_rows(None)),
    ("x is list, expected a torch tensor", lambda: scaled_rows([1.0])),
    ("D is 96, and the package was compiled for D = 64, 128", lambda: scaled_rows(torch.tensor((2, 64, 96), bf16))),
    ("a grid of 70000 blocks along y, 65535 at most", lambda: scaled_rows(torch.tensor((140000, 64, 64), bf16))),
):
    try:
        bad()
    except (TypeError, ValueError) as error:
        assert words in str(error), (words, error)
    else:
        sys.exit("not refused: " + words)
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
