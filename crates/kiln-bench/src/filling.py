import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy


def fill(inputs, scalars, outputs):
    """Calls the function that makes one argument, and checks what it made."""
    wanted = json.loads(REQUEST)
    path, name = wanted["path"], wanted["function"]
    sys.path.insert(0, os.path.dirname(path))
    spec = spec_from_file_location("kiln_inputs", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    function = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise ValueError("%s has no function `%s`" % (os.path.basename(path), name))
    made = numpy.asarray(function(tuple(wanted["shape"]), dict(wanted["dims"]), wanted["seed"]))
    out = outputs[wanted["name"]]
    if made.shape != out.shape:
        raise ValueError("`%s` gave shape %s, expected %s" % (name, list(made.shape), list(out.shape)))
    if made.dtype.kind not in ("biuf" if out.dtype.kind == "f" else "biu"):
        raise ValueError("`%s` gave %s, expected %s" % (name, made.dtype, out.dtype))
    out[...] = made
    if out.dtype.kind != "f" and not numpy.array_equal(out, made):
        raise ValueError("`%s` gave numbers that %s does not hold" % (name, out.dtype))
