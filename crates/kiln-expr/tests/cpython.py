"""CPython's side of cpython.rs: what real Python makes of kiln's expressions.

In, on stdin: a line with a count, then that many lines {"text": .., "rows": [{name: [kind, text], ..}, ..]}; floats
travel as the decimal number of their bits. Out, on stdout: for every line one with a list of outcomes, one a row:
[kind, text], or ["fail", kind of failure].

Every expression is evaluated twice. First by a walk over its `ast` that applies CPython's own operators to one node at a
time, so that an intermediate integer beyond 64 bits is seen: that, and the few forms kiln documents as refused, is
where kiln departs. Then, where no departure was met on the way, by plain `eval()` of the text, which must agree.
"""

import ast
import json
import math
import operator
import struct
import sys
from types import SimpleNamespace

LEAST, GREATEST = -(2**63), 2**63 - 1

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Departure(Exception):
    """Where kiln fails by its own documented rule; CPython may well have a value."""


def within(value):
    """The value, unless it is one that kiln has not."""
    if type(value) is int and not LEAST <= value <= GREATEST:
        raise Departure("Overflow")
    return value


def power(a, b):
    if isinstance(a, int) and isinstance(b, int) and b > 64 and abs(a) > 1:
        raise Departure("Overflow")  # beyond 64 bits for certain, and perhaps beyond memory
    number = (int, float)
    if isinstance(a, number) and isinstance(b, number) and a < 0 and math.isfinite(a) and math.isfinite(b) and b % 1:
        raise Departure("Domain")  # a complex number, or its overflow
    return a**b


def multiply(a, b):
    if isinstance(a, str) and isinstance(b, int) or isinstance(a, int) and isinstance(b, str):
        raise Departure("Type")  # repetition
    return a * b


def modulo(a, b):
    if isinstance(a, str):
        raise Departure("Type")  # formatting
    return a % b


def rounded(value, *digits):
    if digits and isinstance(digits[0], int) and digits[0] < 0 and not isinstance(value, str):
        raise Departure("Domain")  # to tens and hundreds
    return round(value, *digits)


def integer(value):
    if isinstance(value, str):
        raise Departure("Type")  # parsing
    return int(value)


def floating(value):
    if isinstance(value, str):
        raise Departure("Type")  # parsing
    return float(value)


def ceildiv(a, b):
    return -within(within(-a) // b)


def addresses(stride, size):
    """The bytes that each thread of a warp touches."""
    if not isinstance(stride, int) or not isinstance(size, int):
        raise TypeError("integers are expected")
    if size not in (1, 2, 4, 8, 16):
        raise ValueError("no instruction is that wide")
    return [range(thread * stride, thread * stride + size) for thread in range(32)]


def bank_conflicts(stride, size):
    threads, more = addresses(stride, size), 0
    together = min(32, 128 // size)
    for first in range(0, 32, together):
        words = {byte // 4 for bytes_of in threads[first : first + together] for byte in bytes_of}
        banks = [word % 32 for word in words]
        more += max(banks.count(bank) for bank in banks) - 1
    return more


def sectors(stride, size):
    return len({byte // 32 for bytes_of in addresses(stride, size) for byte in bytes_of})


WALKED = {**BINARY, ast.Pow: power, ast.Mult: multiply, ast.Mod: modulo}
CALLED = {
    "min": min,
    "max": max,
    "abs": abs,
    "ceildiv": ceildiv,
    "round": rounded,
    "int": integer,
    "float": floating,
    "sqrt": math.sqrt,
    "log2": math.log2,
    "bank_conflicts": bank_conflicts,
    "sectors": sectors,
}
PLAIN = {
    "__builtins__": {},
    "min": min,
    "max": max,
    "abs": abs,
    "ceildiv": lambda a, b: -(-a // b),
    "round": round,
    "int": int,
    "float": float,
    "sqrt": math.sqrt,
    "log2": math.log2,
    "bank_conflicts": bank_conflicts,
    "sectors": sectors,
}


def dotted(node):
    return node.id if isinstance(node, ast.Name) else f"{dotted(node.value)}.{node.attr}"


class Walk:
    """One evaluation. `agrees` turns false where plain eval() goes another way without a failure."""

    def __init__(self, names):
        self.names = names
        self.agrees = True

    def visit(self, node):
        return within(getattr(self, type(node).__name__)(node))

    def Constant(self, node):
        return node.value

    def Name(self, node):
        return self.names[node.id]

    def Attribute(self, node):
        return self.names[dotted(node)]

    def UnaryOp(self, node):
        # The magnitude of the least integer is the one literal beyond the range.
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and node.operand.value == -LEAST:
            return LEAST if type(node.operand.value) is int else float(LEAST)
        return UNARY[type(node.op)](self.visit(node.operand))

    def BinOp(self, node):
        left = self.visit(node.left)
        return WALKED[type(node.op)](left, self.visit(node.right))

    def BoolOp(self, node):
        value = None
        for part in node.values:
            value = self.visit(part)
            if bool(value) != isinstance(node.op, ast.And):
                return value
        return value

    def IfExp(self, node):
        return self.visit(node.body if self.visit(node.test) else node.orelse)

    def Call(self, node):
        return CALLED[node.func.id](*[self.visit(argument) for argument in node.args])

    def Compare(self, node):
        left = self.visit(node.left)
        for op, comparator in zip(node.ops, node.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                items = [self.visit(item) for item in comparator.elts]
                # A list looks for the same object before it looks for an equal one: only NaN can tell.
                if left != left and any(item != item for item in items):
                    self.agrees = False
                if any(left == item for item in items) != isinstance(op, ast.In):
                    return False
                left = items
            else:
                right = self.visit(comparator)
                if not COMPARE[type(op)](left, right):
                    return False
                left = right
        return True


def outcome(evaluate):
    try:
        value = evaluate()
    except Departure as departure:
        return ["fail", str(departure)]
    except ZeroDivisionError:
        return ["fail", "DivisionByZero"]
    except OverflowError:
        return ["fail", "Overflow"]
    except ValueError:
        return ["fail", "Domain"]
    except TypeError:
        return ["fail", "Type"]
    if type(value) is float:
        return ["float", "nan" if value != value else str(struct.unpack("<Q", struct.pack("<d", value))[0])]
    return [type(value).__name__, str(value)]


READ = {
    "int": int,
    "float": lambda text: struct.unpack("<d", struct.pack("<Q", int(text)))[0],
    "bool": lambda text: text == "True",
    "str": str,
}


def namespace(names):
    """The names as eval() finds them: `a.b` as the attribute `b` of `a`."""
    result = dict(PLAIN)
    for name, value in names.items():
        *path, last = name.split(".")
        at = result
        for part in path:
            at = at.setdefault(part, SimpleNamespace()).__dict__
        at[last] = value
    return result


def answer(line):
    text = line["text"].lstrip(" \t")  # as eval() does
    try:
        tree = ast.parse(text, mode="eval")
        code = compile(tree, "expression", "eval")
    except SyntaxError as error:
        return [["syntax", str(error)] for _ in line["rows"]]
    outcomes = []
    for row in line["rows"]:
        names = {name: READ[kind](value) for name, (kind, value) in row.items()}
        walk = Walk(names)

        def walked():
            try:
                return walk.visit(tree.body)
            except Departure:
                walk.agrees = False
                raise

        result = outcome(walked)
        if walk.agrees:
            plain = outcome(lambda: eval(code, namespace(names)))
            if plain != result:
                result = ["harness", f"the walk gives {result}, plain eval() {plain}"]
        outcomes.append(result)
    return outcomes


def main():
    while count := sys.stdin.readline():
        lines = [sys.stdin.readline() for _ in range(int(count))]
        sys.stdout.write("".join(json.dumps(answer(json.loads(line))) + "\n" for line in lines))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
