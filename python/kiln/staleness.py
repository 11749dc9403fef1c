"""Whether winners still apply. In: a winner, its table, and the function that is called. Out: what differs, in words; none
where nothing does. Files and versions are looked at once in a process."""

import hashlib
import importlib.metadata
import inspect
import os
import sys

from kiln.shapes import is_array


def changed_sources(entry, table, function):
    """Which of the kernel's files are not as they were when the winner was tuned."""
    for name, then in entry.sources.items():
        path = beside(name, table, function)
        if path is None:
            return "%s, which it was tuned with, is not beside %s" % (name, table.path)
        with open(path, "rb") as file:
            now = hashlib.sha256(file.read()).hexdigest()
        if now != then:
            return "%s changed since it was tuned (sha256 %s then, %s now)" % (name, then[:12], now[:12])
    return None


def beside(name, table, function):
    """A source's path: the file the function is in where that has its name, else relative to the table."""
    own = source_file(function)
    if own and os.path.basename(own) == os.path.basename(name):
        return own
    path = os.path.join(table.folder, name)
    return path if os.path.isfile(path) else None


def source_file(function):
    """The file a function is in; none for one that is built in."""
    try:
        return inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        return None


def changed_versions(entry):
    """Which of the packages that decide what is compiled has another version."""
    for package, then in entry.versions.items():
        now = version(package)
        if now != then:
            return "%s is %s, tuned with %s" % (package, now or "not installed", then)
    return None


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return getattr(sys.modules.get(package), "__version__", None)


def processor():
    """The processor's architecture, in the words of Linux."""
    name = os.uname().machine if hasattr(os, "uname") else "x86_64"
    return {"arm64": "aarch64", "AMD64": "x86_64"}.get(name, name)


def architecture(values):
    """What a call runs on: `sm_90` where its first array on a GPU lies, else the processor's architecture."""
    for value in values:
        found = is_array(value) and gpu(value)
        if found:
            return found
    return processor()


def gpu(array):
    device = getattr(array, "device", None)
    if getattr(device, "type", None) == "cuda" and "torch" in sys.modules:
        return "sm_%d%d" % sys.modules["torch"].cuda.get_device_capability(device)
    # CuPy says it as text, "90".
    capability = getattr(device, "compute_capability", None)
    return "sm_%s" % capability if isinstance(capability, str) else None
