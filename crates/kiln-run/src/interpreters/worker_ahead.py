"""The worker's seventh piece: compiles the Triton kernels that a function launches, without a GPU, ahead of its first call.

The function is called once for each workload with tensors that have shapes, dtypes and strides but no elements, and every
launch of a Triton kernel is a compilation for the architecture asked for, by Triton's own rules of specialisation, into
Triton's own cache: the worker that measures later finds it there. No context is made on any device.

Answers what Triton said of each kernel, or what the compiler refused, or why this function cannot be compiled so: it then is
compiled by the call itself, in the worker that measures.
"""

import os
import sys

# Where tensors without elements pretend to lie; kiln's arguments are aligned at least as well.
SOMEWHERE = 1 << 30
# Seconds that a function may spend on anything but compiling: with nothing to compute it should take none.
PATIENCE = 10
# What Triton raises when this piece does not know it well enough, rather than when it does not like a kernel.
STRANGE = (AttributeError, ImportError, KeyError, NameError, TypeError)


class Unable(BaseException):
    """What a function asked for that only a GPU has. No `except Exception` of the function's catches it."""


class Known(dict):
    """What is known of the GPU."""

    def __missing__(self, name):
        raise Unable("it asks for the GPU's %s" % name)

    def __getattr__(self, name):
        return self[name]


class StandIn:
    """Takes the place of Triton's driver for an architecture."""

    def __init__(self, capability, properties):
        from types import SimpleNamespace

        from triton.backends.compiler import GPUTarget

        self.capability, self.properties = capability, properties
        self.target = GPUTarget("cuda", capability, 32)
        self.utils = SimpleNamespace(get_device_properties=lambda _device=0: properties)

    def __getattr__(self, name):
        raise Unable("it asks Triton's driver for %s" % name)

    def get_current_device(self):
        return 0

    def set_current_device(self, _device):
        pass

    def get_current_stream(self, _device=0):
        return 0

    def get_current_target(self):
        return self.target

    def get_device_capability(self, _device=0):
        return divmod(self.capability, 10)

    def get_active_torch_device(self):
        return sys.modules["torch"].device("cuda", 0)

    def get_device_interface(self):
        return sys.modules["torch"].cuda

    def get_benchmarker(self):
        raise Unable("it measures by itself, as triton.autotune does")


class Ahead:
    """What a process needs to compile ahead, made once: afterwards it can do nothing else."""

    def __init__(self, capability, properties):
        import torch
        import triton
        from torch._subclasses import fake_tensor

        self.known = Known(properties)
        self.driver = StandIn(capability, self.known)
        triton.runtime.driver.set_active(self.driver)
        # A tensor of this kind has no elements; Triton looks at where they would lie.
        fake_tensor.FakeTensor.data_ptr = lambda one: SOMEWHERE + one.storage_offset() * one.element_size()
        for name in ("init_gpu_context", "init_cuda_context"):
            if hasattr(fake_tensor, name):
                setattr(fake_tensor, name, lambda *_device: None)
        # With no GPU to be seen, switching to one is nothing; PyTorch does this itself unless it is told that there is one.
        if hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
            torch._C._ensureCUDADeviceGuardSet()
        self.mode = fake_tensor.FakeTensorMode(allow_non_fake_inputs=True)
        self.settle_torch(torch.cuda)
        self.logs, self.kernels, self.refused, self.unable, self.compiling = {}, {}, None, None, 0
        # Files that were run since: what is compiled may depend on them.
        self.files = set()
        sys.addaudithook(self.notice)
        # Triton prints what its assembler says of registers and spills, where its version can.
        knobs = getattr(triton, "knobs", None)
        if hasattr(getattr(knobs, "nvidia", None), "dump_ptxas_log"):
            knobs.nvidia.dump_ptxas_log = True
        self.launch_nothing(triton.runtime.jit.JITFunction)

    def settle_torch(self, cuda):
        """Answers what functions ask of the one GPU before they launch, and does nothing where they wait for it."""
        from contextlib import nullcontext
        from types import SimpleNamespace

        stream = SimpleNamespace(cuda_stream=0, synchronize=lambda: None, wait_stream=lambda _other: None)
        for name, does in {
            "is_available": lambda: True,
            "is_initialized": lambda: True,
            "device_count": lambda: 1,
            "current_device": lambda: 0,
            "set_device": lambda _device: None,
            "get_device_capability": lambda _device=None: self.driver.get_device_capability(),
            "get_device_properties": lambda _device=None: self.known,
            "current_stream": lambda _device=None: stream,
            "default_stream": lambda _device=None: stream,
            "synchronize": lambda _device=None: None,
            "device": lambda _device: nullcontext(),
            "device_of": lambda _tensor: nullcontext(),
            "stream": lambda _stream: nullcontext(),
        }.items():
            setattr(cuda, name, does)

    def launch_nothing(self, kind):
        """Has every launch compile and do nothing more."""
        original = kind.run

        def run(function, *args, grid, warmup, **kwargs):
            return self.compiled(lambda: original(function, *args, grid=grid, warmup=True, **kwargs))

        kind.run = run

    def compiled(self, compile):
        from contextlib import redirect_stdout
        from io import StringIO

        said = StringIO()
        self.compiling += 1
        try:
            with redirect_stdout(said):
                kernel = compile()
        except Exception as error:
            self.refused = error
            raise
        finally:
            self.compiling -= 1
        metadata = kernel.metadata
        if metadata.hash not in self.kernels:
            self.kernels[metadata.hash] = {
                "name": metadata.name,
                "hash": metadata.hash,
                "kept": kept(metadata.hash),
                "threads": 32 * metadata.num_warps,
                "shared": metadata.shared,
                "log": self.log(kernel, said.getvalue()),
            }
        return kernel

    def log(self, kernel, said):
        """What the assembler said, from beside Triton's cache where the kernel came out of that."""
        name = kernel.metadata.hash
        folder = os.path.join(os.environ.get("TRITON_CACHE_DIR") or os.path.expanduser("~/.triton/cache"), "kiln-ptxas")
        path = os.path.join(folder, name)
        if name in self.logs:
            return self.logs[name]
        if "Compiling entry function" not in said:
            try:
                with open(path, encoding="utf-8") as file:
                    said = file.read()
            except OSError:
                said = assembled(kernel)
        try:
            os.makedirs(folder, exist_ok=True)
            with open("%s.%d" % (path, os.getpid()), "w", encoding="utf-8") as file:
                file.write(said)
            os.replace(file.name, path)
        except OSError:
            pass
        self.logs[name] = said
        return said

    def call(self, backend, workloads):
        """Calls the loaded function on every workload."""
        self.kernels, self.refused, self.unable = {}, None, None
        try:
            for slots in workloads:
                inputs, scalars, outputs = self.arguments(slots)
                backend.function(inputs, scalars, outputs, **backend.config)
        except Unable:
            raise
        except BaseException as error:
            if error is self.refused and not isinstance(error, STRANGE):
                return {"refused": refusal(error, backend.path)}
            reads = type(error).__name__.startswith(("DataDependent", "DynamicOutputShape"))
            what = "it reads elements of a tensor" if reads else "without a GPU it raises"
            raise Unable("%s: %s" % (what, describe(error, backend.path)))
        if self.unable:
            raise Unable(self.unable)
        return {"kernels": list(self.kernels.values()), "files": sorted(filter(is_own, self.files))}

    def notice(self, event, arguments):
        if event == "exec":
            self.files.add(getattr(arguments[0], "co_filename", ""))

    def arguments(self, slots):
        import torch

        inputs, scalars, outputs = {}, {}, {}
        for slot in slots:
            name, role = slot["name"], slot["role"]
            if role == "scalar":
                scalars[name] = slot["value"]
            elif role in ("in", "out", "inout"):
                dtype = getattr(torch, DTYPES[slot["dtype"]][2], None)
                if dtype is None:
                    raise Unable("this PyTorch has no %s" % slot["dtype"])
                shape = slot["shape"]
                tensor = torch.empty(shape, dtype=dtype, device="cuda:0")
                if slot.get("strides"):
                    tensor = torch.empty_strided(shape, slot["strides"], dtype=dtype, device="cuda:0")
                if role != "out":
                    inputs[name] = tensor
                if role != "in":
                    outputs[name] = tensor
        return inputs, scalars, outputs

    def look_up(self, _signal, _frame):
        """A function that does something else for long is left alone; one that compiles is timed by kiln."""
        if self.compiling:
            alarm(PATIENCE)
        else:
            self.unable = "it takes longer than %d s without a GPU" % PATIENCE
            raise Unable(self.unable)


def compile_ahead(backend, ask):
    """What becomes of a function's kernels under a configuration."""
    import signal

    try:
        if backend.ahead is None:
            backend.ahead = Ahead(ask["capability"], ask["properties"])
        ahead = backend.ahead
        if not ask["library"]:
            return {}
        signal.signal(signal.SIGALRM, ahead.look_up)
        alarm(PATIENCE)
        try:
            with ahead.mode:
                backend.load(ask["library"], ask["symbol"], ask["config"])
                if not uses_triton(backend.module):
                    raise Unable("the file imports nothing of Triton")
                return ahead.call(backend, ask["workloads"])
        finally:
            alarm(0)
    except Unable as why:
        return {"unable": str(why)}
    except BaseException as error:
        return {"unable": "without a GPU it raises: %s" % describe(error, backend.path)}


def alarm(seconds):
    import signal

    signal.setitimer(signal.ITIMER_REAL, seconds)


def assembled(kernel):
    """What the assembler says of a kernel that Triton had compiled before; nothing where this version is not understood."""
    from contextlib import redirect_stdout
    from io import StringIO

    said = StringIO()
    try:
        from triton.compiler.compiler import make_backend

        metadata = kernel.metadata._asdict()
        backend = make_backend(kernel.metadata.target)
        with redirect_stdout(said):
            backend.make_cubin(kernel.asm["ptx"], dict(metadata), backend.parse_options(metadata), metadata["target"].arch)
    except Exception:
        return ""
    return said.getvalue()


def kept(name):
    """The folder of a kernel in Triton's cache; nothing where this version is not understood."""
    try:
        from triton.runtime.cache import get_cache_manager

        return get_cache_manager(name).cache_dir or ""
    except Exception:
        return ""


def refusal(error, path):
    """Triton's message: the first lines show the line of the kernel, the last what is wrong with it."""
    words, cause = describe(error, path), error.__cause__
    if cause is not None and str(cause).strip() and str(cause) not in words:
        words = "%s\n%s" % (words, cause)
    lines = [line.strip() for line in str(cause or error).splitlines() if line.strip(" ^")]
    last = lines[-1] if lines else "no message"
    return {"headline": "%s: %s" % (type(error).__name__, last), "words": words}


def is_own(path):
    """Whether a file is one of the user's, and not of a package that is installed."""
    packages = [os.path.dirname(sys.modules[name].__file__) for name in ("torch", "triton")]
    installed = tuple(folder + os.sep for folder in [sys.prefix, sys.base_prefix] + packages)
    return path.endswith(".py") and os.path.isfile(path) and not path.startswith(installed)
