"""Kinds of calls. In: the arguments of a call by name. Out: a key that is equal for calls with the same shapes, dtypes, strides
and scalars. Everything else, such as `self`, is left out."""

from collections.abc import Mapping

from kiln.shapes import dtype_of, is_array, shown

# Beyond so many kinds a scalar is taken to differ with each call, and is not told apart any more.
MOST_KINDS = 256
# A longer text is data, no mode.
LONGEST = 40


class Array:
    """What an array was like. `strides` are in elements, and none where it was packed."""

    def __init__(self, array):
        self.shape = tuple(int(side) for side in array.shape)
        self.dtype = dtype_of(array)
        self.strides = strides(array, self.shape)

    def __eq__(self, other):
        return isinstance(other, Array) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    def key(self):
        return self.shape, self.dtype, self.strides

    def __str__(self):
        return "%s%s%s" % (self.dtype, shown(self.shape), " strides %s" % shown(self.strides) if self.strides else "")


def strides(array, shape):
    """Strides in elements where the array is not packed in the order of rows."""
    found = getattr(array, "strides", None)
    if callable(getattr(array, "stride", None)):
        found = tuple(array.stride())
    elif found is not None:
        size = getattr(array, "itemsize", 1) or 1
        found = tuple(step // size for step in found)
    packed, step = [], 1
    for side in reversed(shape):
        packed.insert(0, step)
        step *= max(side, 1)
    if found is None or all(side == 1 or f == p for side, f, p in zip(shape, found, packed)):
        return None
    return found


def flat(named):
    """Arrays and scalars by name. The entries of dicts count by their own names, those of lists by their numbers."""
    for name, value in named.items():
        if isinstance(value, Mapping):
            yield from flat({str(key): part for key, part in value.items()})
        elif isinstance(value, (list, tuple)):
            yield from flat({"%s_%d" % (name, i): part for i, part in enumerate(value)})
        elif is_array(value) or isinstance(value, (bool, int, float)) or isinstance(value, str) and len(value) <= LONGEST:
            yield name, value


def kind_of(named, scalars=True):
    """The kind of a call, and the arrays themselves."""
    key, arrays = [], []
    for name, value in flat(named):
        if is_array(value):
            key.append((name, Array(value)))
            arrays.append((name, value))
        elif scalars:
            key.append((name, value))
    return tuple(key), arrays


def words(kind):
    """A kind in one line."""
    array = lambda part: isinstance(part, Array)
    return "  ".join(("%s %s" if array(part) else "%s=%s") % (name, part) for name, part in kind)
