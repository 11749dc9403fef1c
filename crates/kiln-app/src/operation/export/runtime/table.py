"""What was exported, `table.json`: arguments, implementations with their launches, configurations and the shapes each was tuned for. In: shapes, strides
and dtypes of a call. Out: its dimensions, the configuration for the nearest shape, and every size that depends on them.
Refuses, as `TypeError` or `ValueError`, a call that does not fit, or that a rule of the kernel file excludes."""

import json
import operator
import os
from itertools import product

from .distance import distance
from .expressions import BYTES, Unknown, evaluate

NAMES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64",
    "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool",
}
# Blocks of a grid along x, y and z at most, on every GPU.
GRID = (2**31 - 1, 65535, 65535)


class Table:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "table.json"), encoding="utf-8") as file:
            read = json.load(file)
        if read.get("format") != "kiln-export" or read.get("version") != 1:
            raise ValueError("%s: not version 1 of kiln-export" % folder)
        for name, value in read.items():
            setattr(self, name, value)
        self.parts = {part["name"]: part for part in self.implementations}
        self.by_name = {argument["name"]: argument for argument in self.arguments}
        self.inputs = [a for a in self.arguments if a["role"] in ("in", "inout")]
        self.outputs = [a for a in self.arguments if a["role"] == "out"]
        self.scratch = [a for a in self.arguments if a["role"] == "scratch"]

    def part(self, config):
        """The implementation that a configuration is of; a table with one alone has it without a name."""
        return self.parts[config.get("implementation")]

    def solve(self, given, stated):
        """The dimensions and dtypes of a call, and the inputs whose strides are not the kernel's. `given`: shape, strides in
        elements and dtype of each input; `stated`: values of parameters that are dimensions."""
        dims, variant, compared = dict(self.fixed), {}, []
        dims.update(stated)
        for argument in self.inputs:
            name, (shape, _, dtype) = argument["name"], given[argument["name"]]
            self.match_dtype(argument, dtype, variant)
            if len(shape) != len(argument["shape"]):
                raise ValueError("%s has %d dimensions, expected [%s]" % (name, len(shape), ", ".join(argument["shape"])))
            for axis, (side, size) in enumerate(zip(argument["shape"], shape)):
                where = "%s.shape[%d]" % (name, axis)
                if not side.isidentifier():
                    compared.append((where, side, size))
                elif side not in dims:
                    dims[side] = size
                elif dims[side] != size:
                    raise ValueError("%s is %s, but %s is %s elsewhere" % (where, size, side, dims[side]))
        for where, side, size in compared:
            wanted = evaluate(side, dict(variant, **dims))
            if wanted != size:
                raise ValueError("%s is %s, expected %s = %s" % (where, size, side, wanted))
        self.hold(dict(variant, **dims))
        return self.laid(dims, variant, given) + (variant,)

    def hold(self, names, numbers=None):
        """Refuses what breaks a rule of the kernel file. Without `numbers`, only rules on dimensions are judged; with them, only
        rules on them."""
        for rule in self.valid:
            if rule["numbers"] != (numbers is not None):
                continue
            values = dict(names, **numbers or {})
            try:
                holds = evaluate(rule["rule"], values)
            except Unknown:
                holds = False
            if not holds:
                told = ", ".join("%s=%s" % (name, values.get(name)) for name in rule["names"])
                raise ValueError("%s takes no such call: `%s` does not hold for %s" % (self.name, rule["rule"], told))

    def number(self, name, given, names):
        """A number of a call: the caller's, or the kernel file's own value where it is None."""
        if given is not None:
            return given
        text = self.by_name[name]["value"]
        return evaluate(text, names) if text is not None else 0

    def unwritten(self, given, names):
        """What each returned output holds where an input has no elements, so that nothing is launched; None where all have
        some. Refuses a call whose outputs would not be written."""
        empty = [name for name, (shape, _, _) in given.items() if 0 in tuple(shape)]
        if not empty:
            return None
        written = [a["name"] for a in self.inputs if a["role"] == "inout" and a["name"] not in empty]
        written += [name for name in self.returns if name not in self.empty and 0 not in sides(self.by_name[name], names)]
        if written:
            raise ValueError("%s has no elements, and then nothing writes %s: the kernel file gives it no value under "
                             "[export] empty" % (empty[0], written[0]))
        return {name: float(self.empty.get(name, 0)) for name in self.returns}

    def match_dtype(self, argument, dtype, variant):
        name, element = argument["name"], argument["element"]
        if element in BYTES:
            if dtype != element:
                raise TypeError("%s is %s, expected %s" % (name, dtype, element))
        elif dtype not in self.variables[element]:
            raise TypeError("%s is %s, expected %s" % (name, dtype, " or ".join(self.variables[element])))
        elif variant.setdefault(element, dtype) != dtype:
            raise TypeError("%s is %s, but another input is %s" % (name, dtype, variant[element]))

    def laid(self, dims, variant, given):
        """The dimensions with those that only strides show, such as a layout: of their values the one that most inputs fit."""
        best = None
        for values in product(*self.layouts.values()):
            tried = dict(dims, **dict(zip(self.layouts, values)))
            names = dict(variant, **tried)
            apart = [a["name"] for a in self.inputs if not fits(a, names, *given[a["name"]][:2])]
            if best is None or len(apart) < len(best[1]):
                best = tried, apart
        return best

    def names(self, arch, variant, dims, config=None):
        """Every name that expressions may use."""
        names = dict(variant, **dims)
        names.update(("device." + name, limit) for name, limit in self.device.get(arch, {}).items())
        if config is not None:
            names.update(config)
            for name, text in self.part(config)["derived"]:
                try:
                    names[name] = evaluate(text, names)
                except Unknown:
                    pass
        return names

    def choose(self, arch, variant, dims):
        """The binary for the nearest shape among those whose configuration keeps every constraint on this one, its
        configuration, and the names."""
        sizes = {name: BYTES[dtype] for name, dtype in variant.items()}

        def near(row):
            far = distance(dims, row["dims"]) if row["dims"] is not None else float("inf")
            return far, row["variant"] != variant

        def fitting(row):
            if row["arch"] != arch or {n: BYTES[d] for n, d in row["variant"].items()} != sizes:
                return False
            instance = self.part(self.configs[row["config"]])["instance"]
            return row["dims"] is None or all(row["dims"].get(name) == dims.get(name) for name in instance)

        broken = []
        for row in sorted(filter(fitting, reversed(self.rows)), key=near):
            config = self.configs[row["config"]]
            part, names = self.part(config), self.names(arch, variant, dims, config)
            why = refusal(part, names)
            if why is None:
                for binary in self.binaries:
                    if (binary["arch"], binary["variant"], binary["config"]) == (arch, variant, row["config"]) and all(
                            fill(launch["entry"], names) in binary["symbols"] for launch in part["launches"]):
                        return binary, config, names
            elif why not in broken:
                broken.append(why)
        why = self.lacking(arch, variant, dims) or "; ".join(broken[:4])
        raise ValueError("%s has no configuration for %s on %s%s" % (
            self.name, ", ".join("%s=%s" % pair for pair in dict(variant, **dims).items()), arch or "this processor",
            why and ": " + why))

    def lacking(self, arch, variant, dims):
        """The values of a dimension that kernels were compiled for, where a call has another one."""
        held = [one for binary in self.binaries if (binary["arch"], binary["variant"]) == (arch, variant)
                for one in binary["instances"]]
        for name in dict.fromkeys(name for one in held for name in one):
            values = sorted({one[name] for one in held if name in one})
            if name in dims and dims[name] not in values:
                return "%s is %s, and the package was compiled for %s = %s" % (
                    name, dims[name], name, ", ".join(map(str, values)))
        return ""


def refusal(part, names):
    """Why an implementation does not take a call: a constraint that does not hold, a grid that no GPU can launch; None where it does.
    What cannot be evaluated counts as broken."""
    try:
        for text in part["constraints"]:
            if not evaluate(text, names):
                return "`%s` does not hold" % text
        for launch in part["launches"]:
            for axis, text in enumerate(launch["grid"]):
                blocks = evaluate(text, names)
                if not 1 <= blocks <= GRID[axis]:
                    return "a grid of %s blocks along %s, %s at most" % (blocks, "xyz"[axis], GRID[axis])
    except Unknown as error:
        return str(error)
    return None


def flag(name, value):
    """A parameter that is true or false, as the kernel gets it."""
    if isinstance(value, float) or not (value is True or value is False or one_of(value, (0, 1))):
        raise TypeError("%s is %r, expected True or False" % (name, value))
    return int(value)


def whole(name, value):
    """A parameter that is an integer."""
    try:
        return value if type(value).__name__ == "SymInt" else int(operator.index(value))
    except TypeError:
        raise TypeError("%s is %r, expected an integer" % (name, value)) from None


def one_of(value, values):
    try:
        return bool(value in values)
    except (TypeError, ValueError, RuntimeError):
        return False


def fill(entry, names):
    """A kernel's name with values for the names in braces."""
    for name, value in names.items():
        mark = "{%s}" % name
        if mark in entry:
            entry = entry.replace(mark, str(int(value)) if isinstance(value, bool) else str(value))
    return entry


def sides(argument, names):
    return [evaluate(side, names) for side in argument["shape"]]


def strides(argument, names, shape):
    """Elements from one index to the next, for each dimension."""
    if argument["strides"]:
        return [evaluate(stride, names) for stride in argument["strides"]]
    steps = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        steps[axis - 1] = steps[axis] * shape[axis]
    return steps


def fits(argument, names, shape, found):
    """Whether a tensor lies as the kernel wants it. A dimension of size 1 has no stride that matters."""
    wanted = strides(argument, names, shape)
    return all(size == 1 or step == own for size, step, own in zip(shape, wanted, found))


def dtype_of(argument, variant):
    return variant.get(argument["element"], argument["element"])


def dtype_name(dtype):
    """kiln's name for an array's element type, or the array's own."""
    name = str(dtype).rpartition(".")[2]
    return NAMES.get(name, name)
