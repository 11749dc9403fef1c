"""Numbers as compiled code gets them by value. In: a dtype by kiln's name and a number. Out: what ctypes passes."""

import ctypes
import struct

SCALARS = {
    "f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32, "i16": ctypes.c_int16,
    "i8": ctypes.c_int8, "u64": ctypes.c_uint64, "u32": ctypes.c_uint32, "u16": ctypes.c_uint16, "u8": ctypes.c_uint8,
    "bool": ctypes.c_bool, "f16": ctypes.c_uint16, "bf16": ctypes.c_uint16,
}
FLOATS = ("f64", "f32", "f16", "bf16")


def scalar(dtype, value):
    """A number with its place in memory."""
    return SCALARS[dtype](encoded(dtype, value))


def encoded(dtype, value):
    """The same as what ctypes takes for that type."""
    if dtype == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if dtype == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF
    if dtype == "bool":
        return bool(value)
    return float(value) if dtype in FLOATS else int(value)
