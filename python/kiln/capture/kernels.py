"""Launches of Triton kernels, by the names of their functions. In: patterns such as `softmax_*` and a recorder. Launches while an
autotuner measures are not the program's, and are left out; so is the time of one that compiles."""

import fnmatch
from collections import Counter

from kiln.capture.functions import BadOperation


class Kernels:
    def __init__(self, recorder, patterns):
        self.recorder, self.patterns, self.seen = recorder, patterns, Counter()

    def install(self):
        try:
            from triton.runtime import autotuner, jit
        except ImportError as error:
            raise BadOperation("%s: a Triton kernel, but Triton cannot be imported: %s" % (self.patterns[0], error)) from None
        self.replace_run(jit.JITFunction)
        try:
            from triton.runtime.interpreter import InterpretedFunction
        except ImportError:
            pass
        else:
            self.replace_run(InterpretedFunction)
        if hasattr(autotuner.Autotuner, "_bench"):
            self.mute(autotuner.Autotuner)

    def replace_run(self, kind):
        run, ours = kind.run, self

        def recorded(self, *args, grid, warmup, **kwargs):
            launch = lambda: run(self, *args, grid=grid, warmup=warmup, **kwargs)
            name = getattr(self.fn, "__name__", str(self.fn))
            if warmup or ours.recorder.muted:
                return launch()
            ours.seen[name] += 1
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in ours.patterns):
                return launch()
            operation = ours.recorder.operation(name, "Triton kernel")
            names = lambda: arguments(self, args, kwargs)
            return ours.recorder.call(operation, names, launch, lambda: compiled(self))

        kind.run = recorded

    def mute(self, autotuner):
        bench, recorder = autotuner._bench, self.recorder

        def silent(self, *args, **kwargs):
            recorder.muted += 1
            try:
                return bench(self, *args, **kwargs)
            finally:
                recorder.muted -= 1

        autotuner._bench = silent


def arguments(function, args, kwargs):
    """What a launch works on. Constants of the compilation and options such as num_warps are its configuration."""
    given = dict(zip(function.arg_names, args), **kwargs)
    hints = getattr(function.fn, "__annotations__", {})
    constant = lambda name: "constexpr" in str(hints.get(name, ""))
    return {name: given[name] for name in function.arg_names if name in given and not constant(name)}


def compiled(function):
    """How many binaries a kernel has so far."""
    caches = getattr(function, "device_caches", None) or {}
    return sum(len(cache[0]) for cache in caches.values())
