"""From a call to dimensions. In: the arguments as a kernel file has them (`x: T[ROWS, COLS]`) and the values of a call. Out:
each dimension's size and each type variable's dtype. A side that is a plain name gives that dimension; any other
expression is only compared. Refuses, as `Mismatch`, a call that does not fit."""

from functools import lru_cache
from numbers import Number

from kiln.errors import Mismatch
from kiln.expressions import BYTES, Unknown, evaluate

NAMES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64",
    "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool",
}


class Argument:
    """One argument of a kernel: its name, role, element (a dtype or a type variable), sides and a scalar's value."""

    def __init__(self, name, role, type="", value=None):
        self.name, self.role, self.type, self.value = name, role, type, value
        self.element, _, sides = type.partition("[")
        self.element = self.element.strip()
        self.sides = split(sides.rpartition("]")[0]) if sides else []

    @property
    def is_tensor(self):
        return bool(self.sides)


def split(sides):
    """Parts between the commas that lie outside brackets."""
    parts, depth = [""], 0
    for letter in sides:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def dtype_of(array):
    """kiln's name for an array's element type, or the array's own."""
    return dtype_name(array.dtype)


@lru_cache(maxsize=64)
def dtype_name(dtype):
    name = str(dtype).rpartition(".")[2]
    return NAMES.get(name, name)


def is_array(value):
    """Whether a value is an array; NumPy's numbers have a shape, too, and are none."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, Number)


def plain(number):
    """Python's own number in place of NumPy's."""
    return number.item() if isinstance(number, Number) and hasattr(number, "item") else number


def shown(sides):
    return "[%s]" % ", ".join(map(str, sides))


def solve(arguments, values, known=None):
    """The dimensions and the dtypes of type variables, from arrays and numbers by argument name. `known` dimensions count
    first. Arguments without a value are skipped."""
    dims, variant, later = dict(known or {}), {}, []
    for argument in arguments:
        if argument.name not in values:
            continue
        found = values[argument.name]
        if argument.is_tensor:
            if not is_array(found):
                raise Mismatch("%s is no array, but %s" % (argument.name, type(found).__name__))
            match_dtype(argument, dtype_of(found), variant)
            shape = tuple(int(side) for side in found.shape)
            if len(shape) != len(argument.sides):
                raise Mismatch("%s is %s, expected %s" % (argument.name, shown(shape), shown(argument.sides)))
            for axis, (side, size) in enumerate(zip(argument.sides, shape)):
                put("%s.shape[%d]" % (argument.name, axis), side, size, dims, later)
        elif argument.role == "scalar" and argument.value is not None and not is_array(found):
            if str(argument.value).isidentifier():
                put(argument.name, str(argument.value), plain(found), dims, later)
    names = dict(variant, **dims)
    for where, side, size in later:
        try:
            wanted = evaluate(side, names)
        except Unknown:
            continue
        if wanted != size:
            raise Mismatch("%s is %s, expected %s = %s" % (where, size, side, wanted))
    return dims, variant


def match_dtype(argument, dtype, variant):
    if argument.element in BYTES:
        if dtype != argument.element:
            raise Mismatch("%s is %s, expected %s" % (argument.name, dtype, argument.element))
    elif variant.setdefault(argument.element, dtype) != dtype:
        raise Mismatch("%s is %s, but %s is %s in an argument before it" % (
            argument.name, dtype, argument.element, variant[argument.element]))


def put(where, side, size, dims, later):
    """A plain name is a dimension; anything else is compared when all dimensions are known."""
    if not side.isidentifier():
        later.append((where, side, size))
    elif dims.setdefault(side, size) != size:
        raise Mismatch("%s is %s, but %s is %s elsewhere" % (where, size, side, dims[side]))
