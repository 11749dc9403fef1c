import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from traceback import extract_tb, format_exception_only

# The worker's own: what it says is told as it is, without a place in this file, which no user has seen.
from __main__ import Failed

import numpy


def fill(inputs, scalars, outputs):
    """Calls the function that makes one argument, and checks what it made."""
    wanted = json.loads(REQUEST)
    path, name, out = wanted["path"], wanted["function"], outputs[wanted["name"]]
    try:
        made = find(path, name)(tuple(wanted["shape"]), dict(wanted["dims"]), wanted["seed"])
    except (Failed, SyntaxError):
        raise
    except Exception as error:
        raise Failed(place(error, path, name))
    if made is None:
        raise Failed("`%s` returned nothing, expected an array of shape %s" % (name, list(out.shape)))
    made = numpy.asarray(made)
    if made.shape != out.shape:
        raise Failed("`%s` returned shape %s, expected %s" % (name, list(made.shape), list(out.shape)))
    if made.dtype.kind not in ("biuf" if out.dtype.kind == "f" else "biu"):
        raise Failed("`%s` returned %s, expected %s" % (name, made.dtype, wanted["kind"]))
    out[...] = made
    if out.dtype.kind != "f" and not numpy.array_equal(out, made):
        raise Failed("`%s` returned numbers that %s does not hold" % (name, wanted["dtype"]))


def find(path, name):
    sys.path.insert(0, os.path.dirname(path))
    spec = spec_from_file_location("kiln_inputs", path)
    if spec is None:
        raise Failed("%s is not a Python file" % path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    function = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise Failed("%s has no function `%s`" % (path, name))
    return function


def place(error, path, name):
    """What went wrong, at the last line of the user's file that led to it."""
    last = format_exception_only(type(error), error)[-1].strip()
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == path]
    if lines:
        return "%s:%d: %s" % (path, lines[-1], last)
    # It was not entered: it takes other arguments.
    return "%s: %s; kiln calls it as %s(shape, dims, seed)" % (path, last, name)
