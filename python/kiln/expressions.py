"""Expressions of kernel files. In: text in Python's syntax and the values of names. Out: a value. Refuses, as `Unknown`, what
it does not know: a name without a value, a function of kiln's that has no counterpart here. Nothing is ever executed."""

import ast
import math
import operator
from functools import lru_cache

BYTES = {
    "f64": 8, "f32": 4, "f16": 2, "bf16": 2, "f8e4m3": 1, "f8e5m2": 1,
    "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1,
}
BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}
COMPARED = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
FUNCTIONS = {
    "min": min, "max": max, "abs": abs, "round": round, "int": int, "float": float, "sqrt": math.sqrt,
    "log2": math.log2, "ceildiv": lambda a, b: -(-a // b),
}
LITERALS = {"true": True, "false": False}


class Unknown(Exception):
    """An expression that cannot be evaluated here."""


@lru_cache(maxsize=None)
def parse(text):
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise Unknown("`%s` is no expression" % text) from None


def evaluate(text, names):
    """The value of an expression."""
    try:
        return value(parse(text), names)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Unknown("`%s`: %s" % (text, error)) from None


def value(node, names):
    kind = type(node)
    if kind is ast.Constant and isinstance(node.value, (bool, int, float, str)):
        return node.value
    if kind is ast.Name:
        if node.id in names:
            return names[node.id]
        if node.id in LITERALS:
            return LITERALS[node.id]
        raise Unknown("%s has no value" % node.id)
    if kind is ast.Attribute and isinstance(node.value, ast.Name) and "%s.%s" % (node.value.id, node.attr) in names:
        return names["%s.%s" % (node.value.id, node.attr)]
    if kind is ast.Attribute and node.attr == "bytes" and value(node.value, names) in BYTES:
        return BYTES[value(node.value, names)]
    if kind is ast.BinOp and type(node.op) in BINARY:
        return BINARY[type(node.op)](value(node.left, names), value(node.right, names))
    if kind is ast.UnaryOp and type(node.op) in UNARY:
        return UNARY[type(node.op)](value(node.operand, names))
    if kind is ast.BoolOp:
        until = isinstance(node.op, ast.Or)
        found = not until
        for part in node.values:
            found = value(part, names)
            if bool(found) is until:
                break
        return found
    if kind is ast.Compare and all(type(op) in COMPARED for op in node.ops):
        left = value(node.left, names)
        for op, right in zip(node.ops, node.comparators):
            right = value(right, names)
            if not COMPARED[type(op)](left, right):
                return False
            left = right
        return True
    if kind is ast.IfExp:
        return value(node.body if value(node.test, names) else node.orelse, names)
    if kind is ast.List:
        return [value(part, names) for part in node.elts]
    if kind is ast.Call and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
        return FUNCTIONS[node.func.id](*(value(part, names) for part in node.args))
    raise Unknown("`%s` cannot be evaluated here" % ast.unparse(node))
