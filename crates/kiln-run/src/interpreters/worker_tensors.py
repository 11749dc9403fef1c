"""The worker's first piece: arrays and scalars over the shared memory, and what a function returned copied to them.

Refuses slots that lie outside the memory, have unknown types or need a package that is missing.

The pieces worker_tensors, worker_device, worker_cuda, worker_confine, worker_answers, worker_backend, worker_ahead, worker_forks and worker are joined in this order and run as one
program; each uses names of those before it. They are no modules: a module of ours would stand in for one of that name
beside the user's file.
"""

import sys

# Files in the folder a worker happens to be started in must not stand in for the standard library.
sys.path[:] = [path for path in sys.path if path]

# NumPy's name, struct's letter and PyTorch's name of each dtype.
DTYPES = {
    "f64": ("float64", "d", "float64"),
    "f32": ("float32", "f", "float32"),
    "f16": ("float16", "e", "float16"),
    "bf16": (None, None, "bfloat16"),
    "f8e4m3": (None, None, "float8_e4m3fn"),
    "f8e5m2": (None, None, "float8_e5m2"),
    "i64": ("int64", "q", "int64"),
    "i32": ("int32", "i", "int32"),
    "i16": ("int16", "h", "int16"),
    "i8": ("int8", "b", "int8"),
    "u64": ("uint64", "Q", "uint64"),
    "u32": ("uint32", "I", "uint32"),
    "u16": ("uint16", "H", "uint16"),
    "u8": ("uint8", "B", "uint8"),
    "bool": ("bool", "?", "bool"),
}
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "u64": 8, "u32": 4, "u16": 2}


class Failed(Exception):
    """What could not be done, in words for the user, and what it is about."""

    def __init__(self, words, about="other"):
        super().__init__(words)
        self.about = about


def check_range(what, offset, size, length):
    if offset < 0 or size < 0 or offset + size > length:
        raise Failed("%s: %d bytes at offset %d lie outside the %d shared bytes" % (what, size, offset, length))


def check_slot(slot, length):
    check_range("`%s`" % slot["name"], slot["offset"], slot["bytes"], length)
    if slot["dtype"] not in DTYPES:
        raise Failed("`%s`: unknown dtype %s" % (slot["name"], slot["dtype"]))
    wanted = BYTES.get(slot["dtype"], 1) * reach(slot)
    if slot["bytes"] != wanted:
        raise Failed("`%s`: %s%s needs %d bytes, not %d" % (
            slot["name"], slot["dtype"], slot["shape"], wanted, slot["bytes"]))


def count(slot):
    product = 1
    for size in slot["shape"]:
        product *= size
    return product


def reach(slot):
    """Elements from the first to the last, padding in between included."""
    if not slot.get("strides") or count(slot) == 0:
        return count(slot)
    return 1 + sum((size - 1) * stride for size, stride in zip(slot["shape"], slot["strides"]))


def numpy_array(memory, slot, read_only):
    dtype = DTYPES[slot["dtype"]][0]
    # NumPy has no such type; PyTorch may.
    if dtype is None:
        return torch_tensor(memory, slot, read_only)
    try:
        import numpy
    except ImportError:
        raise Failed("NumPy is not installed in %s; hint: %s -m pip install numpy" % (sys.executable, sys.executable))
    strides = slot.get("strides")
    if strides:
        strides = [stride * BYTES.get(slot["dtype"], 1) for stride in strides]
    array = numpy.ndarray(tuple(slot["shape"]), dtype, buffer=memory, offset=slot["offset"], strides=strides)
    array.flags.writeable = not read_only
    return array


def torch_tensor(memory, slot, _read_only):
    """PyTorch has no read-only tensors: the parent finds changed inputs."""
    try:
        import torch
    except ImportError:
        raise Failed("`%s` is %s, which needs PyTorch: not installed in %s" % (
            slot["name"], slot["dtype"], sys.executable))
    return tensor_in(torch.frombuffer(memory, dtype=torch.uint8), slot, _read_only)


def tensor_in(memory, slot, _read_only):
    """A tensor over bytes that are a tensor themselves."""
    import torch

    dtype = getattr(torch, DTYPES[slot["dtype"]][2], None)
    if dtype is None:
        raise Failed("`%s`: this PyTorch (%s) has no %s" % (slot["name"], torch.__version__, slot["dtype"]))
    if count(slot) == 0:
        return torch.empty(slot["shape"], dtype=dtype, device=memory.device)
    flat = memory[slot["offset"] : slot["offset"] + slot["bytes"]].view(dtype)
    return flat.as_strided(slot["shape"], slot["strides"]) if slot.get("strides") else flat.reshape(slot["shape"])


def uses_torch(module):
    return hasattr(vars(module).get("torch"), "frombuffer")


def uses_triton(module):
    """Whether a module of Triton's, or something out of one, is among the file's globals."""
    for value in list(vars(module).values()):
        names = getattr(value, "__name__", None), getattr(value, "__module__", None), type(value).__module__
        if any(isinstance(name, str) and name.split(".")[0] == "triton" for name in names):
            return True
    return False


def scalar(memory, slot):
    import struct

    letter = DTYPES[slot["dtype"]][1]
    raw = memory[slot["offset"] : slot["offset"] + slot["bytes"]]
    if letter is not None:
        return struct.unpack("=" + letter, raw)[0]
    if slot["dtype"] == "bf16":
        # The upper half of a 32-bit float.
        return struct.unpack("<f", b"\0\0" + (raw if sys.byteorder == "little" else raw[::-1]))[0]
    raise Failed("`%s`: a scalar cannot be %s" % (slot["name"], slot["dtype"]))


def holds(value):
    """Whether a value is a plain, dense array with memory of its own: nothing of it can still be to be computed."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if type(value) in (int, float):
        return True
    if numpy is not None and type(value) is numpy.ndarray:
        return value.base is None and value.flags.c_contiguous and value.dtype != object
    if torch is not None and type(value) is torch.Tensor:
        plain = value.layout == torch.strided and not value.is_conj() and not value.is_neg()
        return plain and value._base is None and value.is_contiguous()
    return numpy is not None and isinstance(value, numpy.generic)


def is_as(value, output):
    """Whether a value lies in memory as the output would: what is read there is the answer."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and type(value) is numpy.ndarray and type(output) is numpy.ndarray:
        return value.flags.c_contiguous and value.dtype == output.dtype and value.size > 1
    if torch is not None and type(value) is torch.Tensor and type(output) is torch.Tensor:
        plain = value.layout == torch.strided and not value.is_conj() and not value.is_neg()
        return plain and value.is_contiguous() and value.dtype == output.dtype and value.device == output.device
    return False


def address(value):
    """Where an array's elements begin."""
    return value.data_ptr() if hasattr(value, "data_ptr") else value.__array_interface__["data"][0]


def check_returned(output, value, name):
    """Refuses what does not hold its elements: anything else might compute them while it is copied, off the clock."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    is_tensor = torch is not None and type(value) is torch.Tensor
    is_array = numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic))
    if not (is_tensor or is_array or isinstance(value, (int, float))):
        raise Failed("the function returned %s for `%s`, not an array" % (type(value).__name__, name))
    shape = tuple(getattr(value, "shape", ()))
    if shape != tuple(output.shape):
        raise Failed("the function returned %s for `%s`, not %s" % (list(shape), name, list(output.shape)))


def copy_to(output, value):
    """Copies what was checked before."""
    torch = sys.modules.get("torch")
    is_tensor = torch is not None and type(value) is torch.Tensor
    if hasattr(output, "copy_"):
        # One that requires gradients would make the output require them.
        output.copy_(value.detach() if is_tensor else torch.as_tensor(value))
    else:
        output[...] = value.detach().cpu().numpy() if is_tensor else value


def apart(array, blank):
    """A copy of an array that lies as the array does; with `blank`, of a packed one, nothing but room for it."""
    if not hasattr(array, "copy_"):
        return array.copy()
    import torch

    copy = torch.empty_strided(tuple(array.shape), array.stride(), dtype=array.dtype, device=array.device)
    if not (blank and array.is_contiguous()):
        copy.copy_(array)
    return copy
