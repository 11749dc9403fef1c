"""The CUDA driver through ctypes: cubins, launches, TMA descriptors. In: what a plan says. Out: objects that can be launched again
and again. Needs libcuda alone; nothing is compiled. Raises `DriverError` with the driver's own words."""

import ctypes
import os
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

SHARED_SIZE, MAX_DYNAMIC_SHARED, ANY_CLUSTER = 1, 8, 14
COOPERATIVE, CLUSTER = 2, 4
PLAIN_SHARED, PORTABLE_CLUSTER, RELAXED, CAPTURING = 48 << 10, 8, 2, 1
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
PROMOTIONS = {"none": 0, "64B": 1, "128B": 2, "256B": 3}
# The driver's number of each element type, and its bytes. Eight bits are eight bits to a copy.
ELEMENTS = {
    "f64": (8, 8), "f32": (7, 4), "f16": (6, 2), "bf16": (9, 2), "i64": (5, 8), "i32": (3, 4), "u64": (4, 8), "u32": (2, 4),
    "u16": (1, 2), "i16": (1, 2), "u8": (0, 1), "i8": (0, 1), "bool": (0, 1), "f8e4m3": (0, 1), "f8e5m2": (0, 1),
}


class DriverError(RuntimeError):
    """What the driver refused."""


class Attribute(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("pad", c_uint32), ("value", c_uint32 * 16)]


class Config(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("stream", c_void_p),
                ("attributes", POINTER(Attribute)), ("count", c_uint)]


class Driver:
    def __init__(self, library="libcuda.so.1"):
        self.lib = ctypes.CDLL(library)
        self.launch = self.lib.cuLaunchKernelEx
        self.zero = self.lib.cuMemsetD8Async
        self.zero.argtypes = [c_uint64, ctypes.c_ubyte, c_size_t, c_void_p]
        self.modules, self.functions, self.allowed = {}, {}, {}

    def check(self, call, code):
        if code:
            words = c_char_p()
            self.lib.cuGetErrorString(code, byref(words))
            raise DriverError("%s: %s (%d)" % (call, (words.value or b"unknown error").decode(), code))

    def make_current(self, device):
        """Makes torch's context of a device the one of this thread: a thread that never used the device has none."""
        context = c_void_p()
        self.check("cuDevicePrimaryCtxRetain", self.lib.cuDevicePrimaryCtxRetain(byref(context), c_int(device)))
        self.check("cuCtxSetCurrent", self.lib.cuCtxSetCurrent(context))

    @contextmanager
    def current(self, device):
        """With torch's context of a device; a caller that had another one has it again afterwards."""
        before = c_void_p()
        self.check("cuCtxGetCurrent", self.lib.cuCtxGetCurrent(byref(before)))
        self.make_current(device)
        try:
            yield
        finally:
            if before.value:
                self.check("cuCtxSetCurrent", self.lib.cuCtxSetCurrent(before))

    def capture(self, stream):
        """The number of the capture into a graph that a stream is in; None when it is in none."""
        status, number = c_int(), c_uint64()
        code = self.lib.cuStreamGetCaptureInfo_v2(c_void_p(stream), byref(status), byref(number), None, None, None)
        self.check("cuStreamGetCaptureInfo", code)
        return number.value if status.value == CAPTURING else None

    def function(self, device, file, symbol, owner=None):
        """A kernel of a cubin, loaded once for each device and owner; also while a graph is captured. Needs the device's context."""
        known = self.functions.get((device, file, symbol, owner))
        if known is not None:
            return known
        mode = c_int(RELAXED)
        self.lib.cuThreadExchangeStreamCaptureMode(byref(mode))
        try:
            if (device, file, owner) not in self.modules:
                with open(file, "rb") as cubin:
                    image = cubin.read()
                module = c_void_p()
                code = self.lib.cuModuleLoadData(byref(module), c_char_p(image))
                self.check("cuModuleLoadData: " + os.path.basename(file), code)
                self.modules[device, file, owner] = module
            function = c_void_p()
            name = c_char_p(symbol.encode())
            code = self.lib.cuModuleGetFunction(byref(function), self.modules[device, file, owner], name)
            self.check("cuModuleGetFunction: " + symbol, code)
        finally:
            self.lib.cuThreadExchangeStreamCaptureMode(byref(mode))
        self.functions[device, file, symbol, owner] = function
        return function

    def allow(self, function, shared, blocks):
        """Lets a kernel have more shared memory or larger clusters than every device can; never less than before."""
        most = self.allowed.setdefault(function.value, [0, 0])
        if shared > most[0]:
            fixed = c_int()
            self.check("cuFuncGetAttribute", self.lib.cuFuncGetAttribute(byref(fixed), c_int(SHARED_SIZE), function))
            if fixed.value + shared > PLAIN_SHARED:
                code = self.lib.cuFuncSetAttribute(function, c_int(MAX_DYNAMIC_SHARED), c_int(shared))
                self.check("cuFuncSetAttribute: %d bytes of shared memory" % shared, code)
            most[0] = shared
        if blocks > max(PORTABLE_CLUSTER, most[1]):
            code = self.lib.cuFuncSetAttribute(function, c_int(ANY_CLUSTER), c_int(1))
            self.check("cuFuncSetAttribute: clusters of %d blocks" % blocks, code)
            most[1] = blocks

    def config(self, grid, block, shared, cluster, cooperative):
        """A launch's configuration; its stream is set for each call."""
        attributes = []
        if cooperative:
            attributes.append(Attribute(COOPERATIVE, 0, (c_uint32 * 16)(1)))
        if cluster:
            attributes.append(Attribute(CLUSTER, 0, (c_uint32 * 16)(*cluster)))
        listed = (Attribute * max(1, len(attributes)))(*attributes)
        config = Config((c_uint * 3)(*grid), (c_uint * 3)(*block), shared, None, listed, len(attributes))
        config.kept = listed
        return config


class TensorMap:
    """A TMA descriptor: 128 bytes, aligned to 64, made anew when its tensor lies elsewhere. Innermost dimension first, as the
    driver counts them."""

    def __init__(self, driver, name, dtype, shape, strides, box, swizzle, promotion):
        if len(shape) > 5 or len(box) != len(shape) or strides[-1] != 1:
            raise ValueError("%s: shape %s with strides %s and box %s cannot be described" % (name, shape, strides, box))
        self.driver, self.name = driver, name
        self.memory = ctypes.create_string_buffer(128 + 64)
        self.address = -(-ctypes.addressof(self.memory) // 64) * 64
        kind, size = ELEMENTS[dtype]
        rank = len(shape)
        self.before = [c_void_p(self.address), c_int32(kind), c_uint32(rank)]
        self.after = [
            (c_uint64 * rank)(*reversed(shape)), (c_uint64 * rank)(*[step * size for step in reversed(strides[:-1])]),
            (c_uint32 * rank)(*reversed(box)), (c_uint32 * rank)(*[1] * rank),
            c_int32(0), c_int32(SWIZZLES[swizzle]), c_int32(PROMOTIONS[promotion]), c_int32(0),
        ]

    def encode(self, pointer):
        code = self.driver.lib.cuTensorMapEncodeTiled(*self.before, c_void_p(pointer), *self.after)
        self.driver.check("cuTensorMapEncodeTiled: " + self.name, code)


class Zeros:
    """What a kernel gets in place of a descriptor on shapes that have none."""

    def __init__(self):
        self.memory = ctypes.create_string_buffer(128 + 64)
        self.address = -(-ctypes.addressof(self.memory) // 64) * 64

    def encode(self, pointer):
        pass
