"""Calls on NumPy arrays. In: the arrays and numbers of a call. Out: the outputs. The compiled function of the configuration for the
nearest shape is called through ctypes, on this thread; ctypes releases the interpreter lock meanwhile."""

import ctypes
import os

import numpy

from .scalars import scalar
from .table import NAMES, Table, dtype_name, dtype_of, sides, strides

DTYPES = {name: own for own, name in NAMES.items()}


class Kernel:
    def __init__(self, file):
        self.table = Table(os.path.dirname(os.path.abspath(file)))
        self.libraries, self.chosen = {}, {}

    def call(self, arrays, stated, numbers):
        """One call. `arrays`: the inputs by name; `stated`: parameters that are dimensions; `numbers`: other numbers, None for
        the kernel file's own value."""
        arrays = {name: even(name, array, role) for name, array, role in self.roles(arrays)}
        key = tuple((a.shape, a.strides, a.dtype) for a in arrays.values()) + tuple(stated.items())
        chosen = self.chosen.get(key)
        if chosen is None:
            if len(self.chosen) >= 4096:
                self.chosen.clear()
            chosen = self.chosen[key] = self.choose(arrays, stated)
        call, names, variant, apart, taken, values, checked = chosen
        if checked:
            self.table.hold(names, {name: self.table.number(name, value, names) for name, value in numbers.items()})
        if values is not None:
            return self.returned({name: self.filled(name, value, names, variant) for name, value in values.items()})
        places, kept, outputs = [], [], {}
        for argument in self.table.arguments:
            name, role = argument["name"], argument["role"]
            if name not in taken:
                places.append(0)
                continue
            if role == "scalar":
                value = scalar(dtype_of(argument, variant), self.table.number(name, numbers.get(name), names))
                kept.append(value)
                places.append(ctypes.addressof(value))
                continue
            array = arrays.get(name)
            if array is None:
                array = outputs[name] = self.empty(argument, names, variant)
            elif name in apart or unaligned(array, argument["alignment"]):
                if role == "inout":
                    raise ValueError("%s is written in place and does not lie as the kernel wants it" % name)
                copy = self.empty(argument, names, variant)
                copy[...] = array
                array = copy
            elif role == "inout" and not array.flags.writeable:
                raise ValueError("%s is written in place, and is read-only" % name)
            kept.append(array)
            places.append(array.ctypes.data)
        call((ctypes.c_void_p * max(1, len(places)))(*places))
        return self.returned(outputs)

    def returned(self, outputs):
        made = [outputs[name] for name in self.table.returns]
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def roles(self, arrays):
        for name, array in arrays.items():
            role = self.table.by_name[name]["role"]
            if array is None:
                raise TypeError("%s is None, expected an array" % name)
            if role == "inout" and not isinstance(array, numpy.ndarray):
                raise TypeError("%s is %s, expected a NumPy array: it is written in place" % (name, type(array).__name__))
            yield name, array, role

    def choose(self, arrays, stated):
        given = {}
        for name, array in arrays.items():
            steps = tuple(step // array.itemsize for step in array.strides)
            given[name] = array.shape, steps, dtype_name(array.dtype)
        dims, apart, variant = self.table.solve(given, stated)
        checked, names = any(rule["numbers"] for rule in self.table.valid), dict(variant, **dims)
        values = self.table.unwritten(given, names)
        if values is not None:
            return None, names, variant, apart, (), values, checked
        binary, config, names = self.table.choose(None, variant, dims)
        if binary["file"] not in self.libraries:
            library = ctypes.CDLL(os.path.join(self.table.folder, binary["file"]))
            library.kiln_call.argtypes, library.kiln_call.restype = [ctypes.c_void_p], None
            self.libraries[binary["file"]] = library
        taken = self.table.part(config)["arguments"]
        return self.libraries[binary["file"]].kiln_call, names, variant, apart, taken, None, checked

    def filled(self, name, value, names, variant):
        array = self.empty(self.table.by_name[name], names, variant)
        array[...] = value
        return array

    def empty(self, argument, names, variant):
        """An array with the kernel's strides, at an address that fits."""
        shape = sides(argument, names)
        steps = strides(argument, names, shape)
        dtype = numpy.dtype(DTYPES[dtype_of(argument, variant)])
        count = 1 + sum((size - 1) * step for size, step in zip(shape, steps)) if all(shape) else 0
        alignment = argument["alignment"] or 64
        memory = numpy.empty(count * dtype.itemsize + alignment, numpy.uint8)
        begin = -memory.ctypes.data % alignment
        flat = memory[begin:begin + count * dtype.itemsize].view(dtype)
        return numpy.lib.stride_tricks.as_strided(flat, shape, [step * dtype.itemsize for step in steps])


def even(name, array, role):
    """An array whose elements lie a whole number of elements apart; a field of a packed record does not."""
    array = array if role == "inout" else numpy.asarray(array)
    if not any(step % array.itemsize for step in array.strides):
        return array
    if role == "inout":
        raise ValueError("%s is written in place, and its strides %s are no multiples of %d bytes" % (
            name, array.strides, array.itemsize))
    return numpy.ascontiguousarray(array)


def unaligned(array, alignment):
    return bool(alignment) and array.ctypes.data % alignment != 0
