"""Reads a Python file without running it: kernels in Triton, plain functions, or a script of Kernel Tuner. In: the file's text on
standard input. Out: one JSON object on standard output. Values are computed only from constants, by the few operations below;
what needs anything else is unknown and is asked about."""

import ast
import json
import math
import sys


class Unknown(Exception):
    """A value that cannot be computed here."""


class Array:
    """An array of which only dtype and shape are known."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, shape


class Scalar:
    """A NumPy number: its value where it is known, and its dtype."""

    def __init__(self, value, dtype):
        self.value, self.dtype = value, dtype


class File:
    """A file that was opened, or its text."""

    def __init__(self, name):
        self.name = name


DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "double": "f64", "single": "f32", "half": "f16",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool_": "bool", "intc": "i32",
}
MOST = 100_000


def name_of(node):
    """`numpy.random.randn` for such an expression, else None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = name_of(node.value)
        return inner and f"{inner}.{node.attr}"
    return None


def last(name):
    return (name or "").rpartition(".")[2]


def plain(value):
    """The number behind a NumPy one."""
    if isinstance(value, Scalar):
        value = value.value
    if value is None or value is Unknown or isinstance(value, (Array, File)):
        raise Unknown
    return value


def shape_of(values):
    """A shape from the arguments of zeros(...) or randn(...)."""
    values = values[0] if len(values) == 1 and isinstance(values[0], (tuple, list)) else values
    sizes = [plain(v) for v in values]
    if not all(isinstance(v, (int, float)) for v in sizes):
        raise Unknown
    return [int(v) for v in sizes]


OPERATORS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
    ast.LShift: lambda a, b: a << b, ast.RShift: lambda a, b: a >> b, ast.BitOr: lambda a, b: a | b,
    ast.BitAnd: lambda a, b: a & b,
}
COMPARISONS = {
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}


def power(a, b):
    if abs(b) > 64 or abs(a) > 1 << 40:
        raise Unknown
    return a**b


def as_load(node):
    return ast.copy_location(ast.parse(ast.unparse(node), mode="eval").body, node)


def unpacked(function):
    """The body of `lambda p: p["a"] > 1`, as `a > 1`."""
    parameters = [a.arg for a in function.args.args]

    class Names(ast.NodeTransformer):
        def visit_Subscript(self, node):
            self.generic_visit(node)
            if len(parameters) == 1 and name_of(node.value) == parameters[0] and isinstance(node.slice, ast.Constant):
                return ast.Name(id=str(node.slice.value), ctx=ast.Load())
            return node

    return ast.unparse(Names().visit(function.body))


def shown(value):
    return value if isinstance(value, str) else None


def scalar(value):
    try:
        value = plain(value) if value is not Unknown else None
    except Unknown:
        return None
    return value if isinstance(value, (bool, int, float, str)) and not (isinstance(value, float) and not math.isfinite(value)) else None


def listed(values):
    """Values of a tunable as a list of scalars, or None."""
    if isinstance(values, range):
        values = list(values)
    if not isinstance(values, (list, tuple)) or not values:
        return None
    found = [scalar(v) for v in values]
    unique = []
    for value in found:
        if value is None:
            return None
        if not any(type(value) is type(u) and value == u for u in unique):
            unique.append(value)
    return unique


def argument(value):
    if isinstance(value, Array):
        return {"dtype": value.dtype, "shape": value.shape}
    if isinstance(value, Scalar):
        return {"dtype": value.dtype, "value": scalar(value)}
    return {"value": scalar(value)}


# -- Triton and plain functions


def decorated(node, word):
    """The decorator called so, bare or with arguments."""
    for decorator in node.decorator_list:
        inner = decorator.func if isinstance(decorator, ast.Call) else decorator
        if last(name_of(inner)) == word:
            return decorator
    return None


def decorated_by(decorator):
    return last(name_of(decorator.func if isinstance(decorator, ast.Call) else decorator))
