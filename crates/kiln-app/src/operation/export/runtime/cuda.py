"""Calls on torch CUDA tensors. In: the tensors and numbers of a call. Out: a `Plan`, everything about it that does not change from
call to call of the same shapes: what to allocate, what to launch. Launches go to torch's current stream; nothing waits."""

import ctypes
import os
import sys
from ctypes import byref, c_uint64, c_void_p

import torch

from .driver import Driver, TensorMap, Zeros
from .expressions import BYTES
from .scalars import encoded, scalar
from .table import Table, dtype_name, dtype_of, evaluate, fill, sides, strides

# Kinds of calls that are remembered: a number that changes with each call must not fill the memory.
REMEMBERED = 4096
# What a tensor must be on; the driver's library. Tests put others here.
DEVICE, LIBRARY = "cuda", "libcuda.so.1"
DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
    "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
}
for _name, _own in (("f8e4m3", "float8_e4m3fn"), ("f8e5m2", "float8_e5m2"), ("u16", "uint16"), ("u32", "uint32"),
                    ("u64", "uint64")):
    if hasattr(torch, _own):
        DTYPES[_name] = getattr(torch, _own)
INVALID_CONTEXT, INVALID_HANDLE = 201, 400


def current_stream(index):
    return torch.cuda.current_stream(index).cuda_stream


# The same without a Stream object; what Triton and torch.compile use.
current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", current_stream)

# What torch.compile uses: an allocation that costs a third of torch.empty's, and one comparison of tensors with those of a call before.
GUARDS = getattr(getattr(torch._C, "_dynamo", None), "guards", None)


def never(*tensors):
    return False


# Whether the current stream is captured into a graph; a torch without CUDA has no such function.
capturing = getattr(torch._C, "_cuda_isCurrentStreamCapturing", never)
FAKE = getattr(getattr(torch, "_subclasses", None), "FakeTensor", None)


def traced(*tensors):
    """Whether tensors have shapes and nothing else, as under FakeTensorMode: their call is the operation's."""
    return FAKE in map(type, tensors)


def guard(call, last, tensors):
    """A function that compares tensors with these: type, dtype, shape, strides and device, in one call. Each prepared
    call has one; where it was the last one's and said no, another mode is on (inference, a dispatch key), and it is made again.
    Tensors that require a gradient are looked at each time: the comparison does not see that grad mode was turned on."""
    if any(tensor.requires_grad for tensor in tensors):
        return never
    if not hasattr(call, "check") or last[2] is call:
        try:
            call.check = GUARDS.TensorGuards(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None).check
        except (AttributeError, TypeError):
            call.check = never
    return call.check


class Kernel:
    def __init__(self, file):
        self.table = Table(os.path.dirname(os.path.abspath(file)))
        self.driver, self.archs = None, {}

    def describe(self, tensors):
        return {name: (tensor.shape, tensor.stride(), dtype_name(tensor.dtype)) for name, tensor in tensors.items()}

    def plan(self, tensors, stated):
        """What a call of these shapes needs. `tensors`: the inputs by name; `stated`: parameters that are dimensions."""
        device = self.checked(tensors)
        dims, apart, variant = self.table.solve(self.describe(tensors), stated)
        values = self.table.unwritten(self.describe(tensors), dict(variant, **dims))
        if values is not None:
            return Nothing(self, device, values, dict(variant, **dims), variant)
        if self.driver is None:
            self.driver = Driver(LIBRARY)
        arch = self.arch(device)
        binary, config, names = self.table.choose(arch, variant, dims)
        return Plan(self, device, binary, config, names, variant, apart)

    def prepare(self, calls, key, tensors, stated, bind):
        """A call of these shapes, remembered. One on tensors that require a gradient is not: it is allowed without grad mode alone."""
        plan = self.plan(tensors, stated)
        call = plan.bind() if isinstance(plan, Nothing) else bind(plan)
        if not any(tensor.requires_grad for tensor in tensors.values()):
            if len(calls) >= REMEMBERED:
                calls.clear()
            calls[key] = call
        return call

    def checked(self, tensors):
        device = None
        for name, tensor in tensors.items():
            if not isinstance(tensor, torch.Tensor):
                raise TypeError("%s is %s, expected a torch tensor on a CUDA device" % (name, type(tensor).__name__))
            if tensor.device.type != DEVICE:
                raise ValueError("%s is on %s, expected a CUDA device" % (name, tensor.device))
            if device is not None and tensor.device != device:
                raise ValueError("%s is on %s, but another input is on %s" % (name, tensor.device, device))
            device = tensor.device
        self.refuse_gradients(tensors)
        return device

    def refuse_gradients(self, tensors):
        for name, tensor in tensors.items():
            if tensor.requires_grad and torch.is_grad_enabled():
                raise RuntimeError("%s requires a gradient, and %s has no backward: call it under torch.no_grad(), "
                                   "or pass %s.detach()" % (name, self.table.name, name))

    def capture(self, stream):
        """The number of the capture that a stream is in: what a kernel keeps from launch to launch is each capture's own."""
        if self.driver is None:
            self.driver = Driver(LIBRARY)
        return self.driver.capture(stream)

    def arch(self, device):
        """The exported architecture whose code runs on a device: its own, else the newest before it of the same generation."""
        if device not in self.archs:
            own = torch.cuda.get_device_capability(device)
            archs = list(dict.fromkeys(binary["arch"] for binary in self.table.binaries))
            runs = [arch for arch in archs if runs_on(arch, own)]
            if not runs:
                raise RuntimeError("%s was exported for %s, and this GPU is sm_%d%d: export again with --arch sm_%d%d" % (
                    (self.table.name, ", ".join(archs)) + tuple(own) * 2))
            self.archs[device] = max(runs, key=lambda arch: (capability(arch), arch))
        return self.archs[device]

    def fake(self, tensors, stated, numbers):
        """Outputs of a call that is only traced."""
        self.refuse_gradients(tensors)
        dims, _, variant = self.table.solve(self.describe(tensors), stated)
        names = dict(variant, **dims)
        self.table.hold(names, {name: self.table.number(name, value, names) for name, value in numbers.items()})
        first, made = next(iter(tensors.values())), []
        for name in self.table.returns:
            argument, names = self.table.by_name[name], dict(variant, **dims)
            shape = sides(argument, names)
            steps, dtype = strides(argument, names, shape), DTYPES[dtype_of(argument, variant)]
            made.append(torch.empty_strided(shape, steps, dtype=dtype, device=first.device))
        return None if not made else made[0] if len(made) == 1 else tuple(made)


def capability(arch):
    digits = arch[3:].rstrip("af")
    return int(digits[:-1]), int(digits[-1])


def runs_on(arch, own):
    major, minor = capability(arch)
    plain = arch[-1].isdigit()
    return (major, minor) == tuple(own) or (plain and major == own[0] and minor <= own[1])


class Nothing:
    """A call whose inputs have no elements: outputs are made, with what the kernel file says they hold, and nothing is launched."""

    def __init__(self, kernel, device, values, names, variant):
        self.device, self.made = device, []
        for name, value in values.items():
            argument = kernel.table.by_name[name]
            shape = sides(argument, names)
            self.made.append((shape, strides(argument, names, shape), DTYPES[dtype_of(argument, variant)], value))

    def bind(self):
        def call(*_):
            made = [torch.empty_strided(shape, steps, dtype=dtype, device=self.device).fill_(value)
                    for shape, steps, dtype, value in self.made]
            return None if not made else made[0] if len(made) == 1 else tuple(made)
        return call


class Plan:
    def __init__(self, kernel, device, binary, config, names, variant, apart):
        table, driver = kernel.table, kernel.driver
        self.kernel, self.driver, self.device, self.config, self.names = kernel, driver, device, config, names
        self.index = device.index if device.index is not None else 0
        # What allocates: on the current device, which where there are several may be another.
        self.fresh = getattr(GUARDS, "_empty_strided_cuda", None) if DEVICE == "cuda" else None
        self.several = self.fresh is not None and torch.cuda.device_count() > 1
        self.fresh = self.fresh or self.empty
        self.binary, self.variant, self.part = binary, variant, table.part(config)
        self.layout(apart)
        # What the implementation takes, and what its descriptors describe.
        taken = self.part["arguments"]
        held = taken + [table.by_name[name]["tensormap"]["tensor"] for name in taken if table.by_name[name]["tensormap"]]
        scratch = [a for a in table.scratch if a["name"] in held]
        self.made = {a["name"]: self.sizes(a) for a in table.outputs + scratch}
        self.bytes = {a["name"]: span(*self.sizes(a)[:2]) * BYTES[dtype_of(a, variant)] for a in scratch}
        # One word for each pointer, one object for each number, one descriptor for each map, in the order of the arguments.
        self.words, self.numbers, self.maps, places = {}, {}, {}, []
        for argument in table.arguments:
            name, role = argument["name"], argument["role"]
            if name not in taken:
                if name in held:
                    self.words[name] = c_uint64()
            elif role == "scalar":
                found = scalar(dtype_of(argument, variant), self.value(argument))
                self.numbers[name] = found
                places.append(ctypes.addressof(found))
            elif role == "tensormap":
                found = self.map(argument)
                self.maps[name] = found
                places.append(found.address)
            else:
                found = c_uint64()
                self.words[name] = found
                places.append(ctypes.addressof(found))
        self.arguments = (c_void_p * max(1, len(places)))(*places)
        file = os.path.join(table.folder, binary["file"])
        with driver.current(self.index):
            self.launches = [self.launch(launch, file, binary["symbols"]) for launch in self.part["launches"]]

    def sizes(self, argument):
        """What to allocate: shape, strides and torch's dtype."""
        shape = sides(argument, self.names)
        dtype = DTYPES[dtype_of(argument, self.variant)]
        return tuple(shape), tuple(strides(argument, self.names, shape)), dtype

    def layout(self, apart):
        """The strides that inputs are copied to where they lie otherwise than the kernel wants them."""
        self.copied = {}
        for name in apart:
            argument = self.kernel.table.by_name[name]
            if argument["role"] == "inout":
                raise ValueError("%s is written in place and must have the strides %s" % (
                    name, strides(argument, self.names, sides(argument, self.names))))
            self.copied[name] = self.sizes(argument)[1]

    def value(self, argument):
        """A number's value where the caller does not choose it."""
        return self.kernel.table.number(argument["name"], None, self.names)

    def hold(self, numbers):
        """Refuses numbers that break a rule of the kernel file."""
        table = self.kernel.table
        table.hold(self.names, {name: table.number(name, value, self.names) for name, value in numbers.items()})

    def map(self, argument):
        described = argument["tensormap"]
        if described["when"] is not None and not evaluate(described["when"], self.names):
            return Zeros()
        tensor = self.kernel.table.by_name[described["tensor"]]
        shape = sides(tensor, self.names)
        box = [evaluate(side, self.names) for side in described["box"]]
        return TensorMap(self.driver, argument["name"], dtype_of(tensor, self.variant), shape,
                         strides(tensor, self.names, shape), box, described["swizzle"], described["promotion"])

    def launch(self, launch, file, symbols):
        """Configuration and function of a launch, as `cuLaunchKernelEx` takes them, and the configuration itself."""
        axes = {part: [evaluate(side, self.names) for side in launch[part]] for part in ("grid", "block", "cluster")}
        grid, block = (axes[part] + [1] * (3 - len(axes[part])) for part in ("grid", "block"))
        cluster = axes["cluster"] and axes["cluster"] + [1] * (3 - len(axes["cluster"]))
        shared = evaluate(launch["shared"], self.names) if launch["shared"] else 0
        # Launches on two streams, or of two graphs, must not share what a kernel keeps from one to the next: each stream and each
        # capture loads its own copy.
        owner = None
        if self.kernel.table.stateful:
            stream = current_stream(self.index)
            owner = stream, self.kernel.capture(stream) if capturing() else None
        function = self.driver.function(self.index, file, symbols[fill(launch["entry"], self.names)], owner)
        blocks = cluster[0] * cluster[1] * cluster[2] if cluster else 1
        self.driver.allow(function, shared, blocks)
        config = self.driver.config(grid, block, shared, cluster, launch["cooperative"])
        return config, byref(config), function

    def empty(self, shape, steps, dtype):
        return torch.empty_strided(shape, steps, dtype=dtype, device=self.device)

    def place(self, name, tensor):
        """An input as the kernel wants it: its own strides, at an address that fits."""
        steps = self.copied.get(name)
        if steps is None and aligned(tensor, self.kernel.table.by_name[name]["alignment"]):
            return tensor
        if self.kernel.table.by_name[name]["role"] == "inout":
            raise ValueError("%s is written in place and does not begin at a multiple of %d bytes" % (
                name, self.kernel.table.by_name[name]["alignment"]))
        copy = torch.empty_strided(tensor.shape, steps or tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        return copy.copy_(tensor)

    def number(self, name, value):
        """A number that the caller chose, as its slot takes it."""
        return encoded(dtype_of(self.kernel.table.by_name[name], self.variant), value)

    def failed(self, code, config, function):
        """A launch again on a thread, or with a current device, whose context is another; else the driver's words."""
        if code in (INVALID_CONTEXT, INVALID_HANDLE):
            with torch.cuda.device(self.index):
                self.driver.make_current(self.index)
                code = self.driver.launch(config, function, self.arguments, None)
        self.driver.check("cuLaunchKernelEx: %s" % self.kernel.table.name, code)


def aligned(tensor, alignment):
    return not alignment or tensor.data_ptr() % alignment == 0


def span(shape, steps):
    """Elements from the first to behind the last."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, steps)) if all(shape) else 0


# What was registered in this process, by name: it outlives a reload of the package, for torch takes no operation twice.
OPERATIONS = sys.modules.setdefault("kiln_exported_operations", type(sys)("kiln_exported_operations")).__dict__


def register(namespace, schema, function, call, fake):
    """The function as a torch operation, `torch.ops.NAMESPACE.NAME`, for torch.compile and torch.export. `call` makes a call
    wherever torch makes one; on plain tensors `function` does the same and knows the call before."""
    own, signature = schema.partition("(")[0], schema[schema.index("("):]
    name = "%s::%s" % (namespace, own)
    known = OPERATIONS.get(name)
    if known is None:
        known = {"signature": signature}
        torch.library.define(name, signature)
        torch.library.impl(name, "default")(lambda *given, **named: known["call"](*given, **named))
        torch.library.register_fake(name)(lambda *given, **named: known["fake"](*given, **named))
        operation = getattr(getattr(torch.ops, namespace), own).default
        # What is written in place has no backward that could be registered: `fake` refuses it.
        if "!" not in signature and not direct(namespace, own, operation, known):
            torch.library.register_autograd(name, lambda *_: no_backward(own))
        OPERATIONS[name] = known
    elif known["signature"] != signature:
        raise RuntimeError("%s%s is registered already, with %s: two packages of one name in a process" % (
            name, signature, known["signature"]))
    known["function"], known["call"], known["fake"] = function, call, fake
    return getattr(getattr(torch.ops, namespace), own).default


def direct(namespace, own, operation, known):
    """The operation refuses a backward as torch.library.register_autograd would have it do, which takes half of the time of a
    short call: on plain tensors that want no gradient the dispatcher is left at once. False where this torch has other parts."""
    try:
        from torch._library.autograd import Info, make_autograd_impl

        backward = make_autograd_impl(operation, Info(lambda *_: no_backward(own), None))
        below, key = torch._C._after_ADInplaceOrView_keyset, torch._C.DispatchKey
        bare = torch._C.DispatchKeySet(getattr(key, DEVICE.upper())).raw_repr()
        library = torch.library.Library(namespace, "FRAGMENT")
    except (ImportError, AttributeError, TypeError):
        return False
    tensors = [at for at, argument in enumerate(operation._schema.arguments) if "Tensor" in str(argument.type)]
    wanted, compiling, plain = torch.is_grad_enabled, torch.compiler.is_compiling, set()

    def run(keys, *given, **named):
        kind = keys.raw_repr()
        if kind in plain and not compiling():
            if not wanted():
                return known["function"](*given, **named)
            for at in tensors:
                if given[at].requires_grad:
                    break
            else:
                return known["function"](*given, **named)
        # No mode, no wrapper, nothing that a view stands for: the keys below those of gradients are the device's alone.
        elif (keys & below).raw_repr() == bare:
            plain.add(kind)
        return backward(keys, *given, **named)

    try:
        library.impl(own, run, "Autograd", with_keyset=True)
    except TypeError:
        return False
    known["library"] = library
    return True


def no_backward(name):
    raise RuntimeError("%s has no backward: call it under torch.no_grad(), or pass inputs that require no gradient" % name)
