"""Calls of a Python function (Triton, NumPy) with the winner's tunables as keyword arguments. In: the arrays and numbers of a call.
Out: the outputs, allocated here. The function gets dicts by argument name, as kiln calls it: `f(inputs, scalars, outputs, **tunables)`."""

import importlib.util
import os
import sys

from .table import NAMES, Table, dtype_name, dtype_of, sides, strides

DTYPES = {name: own for own, name in NAMES.items()}


class Kernel:
    def __init__(self, file):
        self.table = Table(os.path.dirname(os.path.abspath(file)))
        self.functions, self.chosen = {}, {}

    def load(self, part):
        """The function, from the copy of its file in this package."""
        file = os.path.join(self.table.folder, part["source"])
        folder = os.path.dirname(file)
        spec = importlib.util.spec_from_file_location("_".join(filter(None, (self.table.name, part["name"], "source"))), file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        sys.path.insert(0, folder)
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(folder)
        return getattr(module, part["entry"])

    def config(self, arrays, stated):
        """The tunables for a call, and what else depends on its shapes alone."""
        key = tuple((a.shape, steps(a), a.dtype) for a in arrays.values()) + tuple(stated.items())
        if key not in self.chosen:
            given = {name: (tuple(a.shape), steps(a), dtype_name(a.dtype)) for name, a in arrays.items()}
            dims, _, variant = self.table.solve(given, stated)
            _, config, names = self.table.choose(None, variant, dims)
            self.chosen[key] = config, names, variant
        return self.chosen[key]

    def call(self, arrays, stated, numbers):
        missing = [name for name, array in arrays.items() if not hasattr(array, "dtype")]
        if missing:
            raise TypeError("%s is %s, expected an array or a tensor" % (missing[0], type(arrays[missing[0]]).__name__))
        config, names, variant = self.config(arrays, stated)
        if any(rule["numbers"] for rule in self.table.valid):
            self.table.hold(names, {name: self.table.number(name, value, names) for name, value in numbers.items()})
        part = self.table.part(config)
        if part["name"] not in self.functions:
            self.functions[part["name"]] = self.load(part)
        inputs, scalars, outputs, first = {}, {}, {}, next(iter(arrays.values()), None)
        for argument in self.table.arguments:
            name, role = argument["name"], argument["role"]
            if role == "scalar":
                scalars[name] = self.table.number(name, numbers.get(name), names)
            elif role in ("in", "inout"):
                inputs[name] = arrays[name]
            if role not in ("scalar", "in"):
                outputs[name] = arrays[name] if role == "inout" else empty(argument, names, variant, first)
        tunables = {name: value for name, value in config.items() if name != "implementation"}
        result = self.functions[part["name"]](inputs, scalars, outputs, **tunables)
        if result is not None and not isinstance(result, dict):
            result = {next(iter(outputs)): result}
        for name, value in (result or {}).items():
            if value is not outputs[name]:
                outputs[name][...] = value
        made = [outputs[name] for name in self.table.returns]
        return None if not made else made[0] if len(made) == 1 else tuple(made)


def steps(array):
    """Strides in elements, of a tensor or an array."""
    if hasattr(array, "stride"):
        return tuple(array.stride())
    return tuple(step // array.itemsize for step in array.strides)


def empty(argument, names, variant, like):
    shape = sides(argument, names)
    dtype, wanted = DTYPES[dtype_of(argument, variant)], strides(argument, names, shape)
    if hasattr(like, "stride"):
        import torch
        return torch.empty_strided(shape, wanted, dtype=getattr(torch, dtype), device=like.device)
    import numpy
    made = numpy.empty(max(1, 1 + sum((n - 1) * s for n, s in zip(shape, wanted))), dtype)
    return numpy.lib.stride_tricks.as_strided(made, shape, [step * made.itemsize for step in wanted])
