"""Values of arrays, saved as .npy: those of the first call of each kind, until a limit is reached. In: a folder, the limit in bytes.
Needs NumPy."""

import os
import re


class Values:
    def __init__(self, folder, limit):
        self.folder, self.limit, self.bytes, self.files, self.left_out = folder, limit, 0, 0, 0
        self.seen = set()

    def save(self, operation, kind, arrays):
        if (operation.name, kind) in self.seen:
            return
        self.seen.add((operation.name, kind))
        import numpy

        number = sum(name == operation.name for name, _ in self.seen)
        for name, array in arrays:
            held = host(array)
            if self.bytes + held.nbytes > self.limit:
                self.left_out += 1
                continue
            os.makedirs(self.folder, exist_ok=True)
            numpy.save(os.path.join(self.folder, "%s_%d_%s.npy" % (safe(operation.name), number, safe(name))), held)
            self.bytes += held.nbytes
            self.files += 1


def host(array):
    """The elements as NumPy has them: what it has no type for, in single precision."""
    import numpy

    if hasattr(array, "detach"):
        array = array.detach().cpu()
        try:
            return array.numpy()
        except TypeError:
            return array.float().numpy()
    return numpy.asarray(array)


def safe(name):
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
