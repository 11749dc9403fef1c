"""Calls of Python functions, `module:function` or `module:Class.method`. In: such a name and a recorder. The function is replaced in
its module and wherever another module has imported it before. One of the program itself, `__main__:function`, is decorated while
the program is compiled. Refuses, as `BadOperation`, what cannot be imported or is not callable."""

import ast
import functools
import importlib
import inspect
import sys


class BadOperation(Exception):
    """A name that stands for nothing that can be recorded."""


def record_function(recorder, name):
    module_name, _, path = name.partition(":")
    try:
        holder = module = importlib.import_module(module_name)
        *outer, last = path.split(".")
        for part in outer:
            holder = getattr(holder, part)
        function = inspect.getattr_static(holder, last)
    except ImportError as error:
        raise BadOperation("%s: cannot import %s: %s" % (name, module_name, error)) from None
    except AttributeError:
        raise BadOperation("%s: %s has no %s" % (name, module_name, path)) from None
    if not callable(function):
        raise BadOperation("%s: it is no function, but %s" % (name, type(function).__name__))
    wrapper = wrapped(recorder, recorder.operation(name, "function"), function)
    try:
        setattr(holder, last, wrapper)
    except (AttributeError, TypeError):
        raise BadOperation("%s: a built-in type's method cannot be replaced" % name) from None
    if holder is module:
        everywhere(function, wrapper)


def everywhere(function, wrapper):
    """Other modules' names for the function."""
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is function:
                setattr(module, name, wrapper)


def wrapped(recorder, operation, function):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None

    @functools.wraps(function)
    def call(*args, **kwargs):
        return recorder.call(operation, lambda: named(signature, args, kwargs), lambda: function(*args, **kwargs))

    return call


def named(signature, args, kwargs):
    """Arguments by the names of the function's own, numbers where it does not tell."""
    try:
        return dict(signature.bind(*args, **kwargs).arguments)
    except (AttributeError, TypeError):
        return dict({"in%d" % i: value for i, value in enumerate(args)}, **kwargs)


MARK = "__kiln_capture__"


def decorated(source, path, names):
    """The program's code with functions of it decorated by a name that the runner defines."""
    tree, found = ast.parse(source, path), set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            mark = ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(node.name)], [])
            node.decorator_list.append(ast.copy_location(mark, node))
            found.add(node.name)
    missing = [name for name in names if name not in found]
    if missing:
        raise BadOperation("__main__:%s: %s defines no such function at its top level" % (missing[0], path))
    return compile(ast.fix_missing_locations(tree), path, "exec")
