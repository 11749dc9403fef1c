"""Operations of PyTorch. In: patterns and a recorder. `torch.nn.functional.softmax` is what the program calls, `aten.mm` what
PyTorch makes of it, backward passes included. Out: modes to run the program in; they hold for its main thread."""

import fnmatch
import inspect
from collections import Counter

from kiln.capture.functions import BadOperation, named


def modes(recorder, patterns):
    """The modes that record these operations, and the names of all operations that were seen."""
    try:
        import torch
        from torch.overrides import TorchFunctionMode, resolve_name
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError as error:
        raise BadOperation("%s: an operation of PyTorch, which cannot be imported: %s" % (patterns[0], error)) from None
    seen, resolved, operations = Counter(), {}, {}

    def wanted(names):
        for name in names:
            for pattern in patterns:
                if fnmatch.fnmatchcase(name, pattern):
                    return recorder.operation(name, "PyTorch operation")
        return None

    def record(function, names, args, kwargs, arguments):
        if function not in operations:
            resolved[function] = names()
            operations[function] = wanted(resolved[function])
        seen[resolved[function][0]] += 1
        operation = operations[function]
        if operation is None:
            return function(*args, **kwargs)
        return recorder.call(operation, arguments, lambda: function(*args, **kwargs))

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            return record(function, lambda: spellings(resolve_name(function), function), args, kwargs,
                          lambda: named(signature(function), args, kwargs))

    class Dispatched(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            names = [argument.name for argument in function._schema.arguments]
            return record(function, lambda: [str(function.overloadpacket), str(function)], args, kwargs,
                          lambda: dict(zip(names, args), **kwargs))

    high = [pattern for pattern in patterns if pattern.startswith("torch.")]
    found = [Functions()] if high else []
    return found + ([Dispatched()] if len(high) < len(patterns) else []), seen


def spellings(name, function):
    """The names that a function goes by."""
    own = "%s.%s" % (getattr(function, "__module__", None), getattr(function, "__name__", None))
    return [name or own, own]


def signature(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None
