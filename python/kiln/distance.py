"""How far two shapes are apart, by the rule that kiln has for `tuned.toml`. In: dimensions of two shapes. Out: doublings."""

import math

# What cannot be doubled, such as a mask or a layout, is far when it differs.
FAR = 8.0


def distance(a, b):
    """How far two shapes are apart, in doublings of dimensions."""
    apart = 0.0
    for name, left in a.items():
        if name not in b:
            apart += FAR
        elif not same(left, b[name]):
            left, right = exponent(left), exponent(b[name])
            apart += FAR if left is None or right is None else abs(left - right)
    return apart + FAR * sum(name not in a for name in b)


def same(left, right):
    """Equal, and of one kind: 1 is no flag."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def exponent(size):
    number = isinstance(size, (int, float)) and not isinstance(size, bool)
    return math.log2(size) if number and size > 0 else None
