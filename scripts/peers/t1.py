"""The part of a T1 file the benchmark needs, shared by the driver and the peers' workers."""

import json

# What `Values` expressions use. This keeps typos from reaching other names; it is no sandbox:
# run the benchmark on files you trust.
NAMES = {"__builtins__": {}, "range": range, "list": list, "True": True, "False": False}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def parse(text):
    """Return ({parameter: [values]}, [condition text]), both in the order of the file."""
    space = json.loads(text)["ConfigurationSpace"]
    params = {}
    for param in space["TuningParameters"]:
        values = param["Values"]
        params[param["Name"]] = list(eval(values, NAMES) if isinstance(values, str) else values)
    return params, [condition["Expression"] for condition in space.get("Conditions", [])]
