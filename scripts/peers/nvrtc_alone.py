"""Worker: NVRTC without kiln around it. Compiles configurations of a kernel one after another in this process, with the options
that kiln gives, and prints [seconds, processor seconds] of one.

usage: nvrtc_alone.py KERNEL_FOLDER CONFIGURATIONS.json    (CUDA_HOME names the toolkit; /usr/local/cuda without)
"""

import ctypes
import glob
import json
import os
import pathlib
import sys
import time
import tomllib

kernel, configurations = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
file = tomllib.loads((kernel / "kernel.toml").read_text())
source = (kernel / file["target"]["cuda"]["source"]).read_bytes()
entry = file["target"]["cuda"].get("entry", file["kernel"]["entry"])
toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
folders = [f"{toolkit}/{place}" for place in ("lib64", "lib", "targets/x86_64-linux/lib")]
found = [path for folder in folders for path in glob.glob(f"{folder}/libnvrtc.so.1*")]
if not found:
    sys.exit(f"nvrtc_alone: no libnvrtc in {toolkit}; set CUDA_HOME")
# NVRTC opens its second library by name, which is known once it is loaded.
for builtins in glob.glob(f"{os.path.dirname(found[0])}/libnvrtc-builtins.so.*"):
    ctypes.CDLL(builtins, ctypes.RTLD_GLOBAL)
nvrtc = ctypes.CDLL(found[0])
# As kiln's builders do: M_TRIM_THRESHOLD and M_MMAP_THRESHOLD.
ctypes.CDLL(None).mallopt(-1, 256 << 20)
ctypes.CDLL(None).mallopt(-3, 32 << 20)


def define(name, value):
    return f"-D{name}={int(value) if isinstance(value, bool) else value}"


def compile(config):
    options = ["--gpu-architecture=sm_90a", "--ptxas-options=-v", "-std=c++17", f"-I{kernel}"]
    options += [f"-I{toolkit}/include", f"-I{toolkit}/include/cccl", *(define(*pair) for pair in config.items())]
    words = [option.encode() for option in options]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    nvrtc.nvrtcAddNameExpression(program, entry.encode())
    if nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words)) != 0:
        sys.exit(f"nvrtc_alone: {config} does not compile")
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


compile(configurations[0])
start, processor = time.perf_counter(), time.process_time()
for config in configurations:
    compile(config)
count = len(configurations)
print(json.dumps([(time.perf_counter() - start) / count, (time.process_time() - processor) / count]))
