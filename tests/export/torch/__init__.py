"""Not PyTorch: the few names of it that an exported package uses, on memory of this process, so that what it launches can be seen
without a GPU and without torch. Tensors claim to be on device cuda:0, of capability 9.0; the current stream is 77."""

import ctypes
import math
from types import SimpleNamespace


class DType:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name


float64, float32, float16, bfloat16 = map(DType, ("float64", "float32", "float16", "bfloat16"))
int64, int32, int16, int8, uint8, bool = map(DType, ("int64", "int32", "int16", "int8", "uint8", "bool"))


class Device:
    type, index = "cuda", 0


CUDA = Device()
calls, copies, filled = {}, [], []


class Tensor:
    def __init__(self, shape, strides, dtype, device=CUDA, offset=0):
        self.shape, self.strides, self.dtype, self.device, self.requires_grad = tuple(shape), tuple(strides), dtype, device, False
        self.memory = ctypes.create_string_buffer(256 + 64)
        self.address = -(-ctypes.addressof(self.memory) // 64) * 64 + offset

    def stride(self):
        return self.strides

    def get_device(self):
        return self.device.index

    def data_ptr(self):
        return self.address

    def fill_(self, value):
        filled.append((self.shape, value))
        return self

    def copy_(self, other):
        copies.append((other.strides, self.strides))
        return self


def packed(shape):
    return tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))


def tensor(shape, dtype, strides=None, offset=0):
    return Tensor(shape, strides or packed(shape), dtype, offset=offset)


def empty_strided(shape, strides, dtype, device):
    return Tensor(shape, strides, dtype, device)


def empty_like(other):
    return Tensor(other.shape, other.strides, other.dtype, other.device)


def is_grad_enabled():
    return True


compiler = SimpleNamespace(is_compiling=lambda: False)


def define(name, schema):
    if name in calls:
        raise RuntimeError(name + " is registered already")
    calls[name] = schema


library = SimpleNamespace(
    define=define, impl=lambda name, kind: lambda function: function, register_fake=lambda name: lambda function: function,
    register_autograd=lambda name, backward: backwards.update({name: backward}))
backwards = {}


class _Space:
    def __getattr__(self, name):
        return SimpleNamespace(default=None) if self is not ops else _Space()


ops = None
ops = _Space()
cuda = SimpleNamespace(get_device_capability=lambda device: (9, 0), current_stream=None, is_available=lambda: False, device_count=lambda: 1)


class TensorGuards:
    """Compares tensors with those it was made of, as torch.compile's does."""

    def __init__(self, *tensors, dynamic_dims_sizes, dynamic_dims_strides):
        self.kinds = [self.kind(one) for one in tensors]

    def kind(self, one):
        return type(one), one.shape, one.strides, one.dtype, one.device, one.requires_grad

    def check(self, *tensors):
        found = [isinstance(one, Tensor) and self.kind(one) for one in tensors] == self.kinds
        checked.append(found)
        return found


checked, captured = [], False
_C = SimpleNamespace(_cuda_getCurrentRawStream=lambda index: 77, _cuda_isCurrentStreamCapturing=lambda: captured, _dynamo=SimpleNamespace(guards=SimpleNamespace(
    TensorGuards=TensorGuards, _empty_strided_cuda=lambda shape, strides, dtype: Tensor(shape, strides, dtype))))
