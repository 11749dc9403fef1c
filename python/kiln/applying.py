"""`kiln.tuned`: winners applied at run time. In: a function whose tunables are keyword arguments, and a table. Out: the same
function, which fills in the tunables of the winner for each call's shapes, dtypes and architecture. Keyword arguments of the
caller win. A choice is made once for each kind of call, and remembered."""

import functools
import inspect
import os
import warnings
from collections.abc import Mapping
from numbers import Number

from kiln.errors import BadTable, Mismatch, Stale, StaleWarning
from kiln.shapes import solve
from kiln.staleness import architecture, changed_sources, changed_versions, source_file
from kiln.table import Table

WAYS = ("error", "warn", "default")
# Kinds of calls that are remembered: a number that changes with each call must not fill the memory.
REMEMBERED = 4096
# What is remembered as it is.
PLAIN = (int, float, str, bytes, type(None), Number)


def tuned(path, *, stale="error", dims=None, arch=None):
    """Decorates a function that takes tunables as keyword arguments.

    path: the table that `kiln tune --adopt` wrote; relative paths are relative to the function's file.
    stale: what happens when no winner applies. "error" raises `kiln.Stale`; "warn" warns once and uses the winner if there
        is one; "default" uses [default] of the kernel file.
    dims: a function of the same arguments that returns dimensions, for those that are no plain side of an argument.
    arch: the architecture, such as "sm_90", where arrays do not tell."""
    if stale not in WAYS:
        raise ValueError('stale=%r: expected "error", "warn" or "default"' % (stale,))

    def decorate(function):
        chooser = Chooser(function, path, stale, dims, arch)

        @functools.wraps(function)
        def call(*args, **kwargs):
            if not chooser.given(args, kwargs):
                kwargs = chooser.fill(args, kwargs)
            return function(*args, **kwargs)

        call.kiln = chooser
        return call

    return decorate


class Chooser:
    def __init__(self, function, path, stale, dims, arch):
        self.function, self.stale, self.find_dims, self.arch = function, stale, dims, arch
        self.path = beside(function, path)
        self.table, self.chosen, self.checked, self.warned = None, {}, {}, set()
        try:
            self.signature = inspect.signature(function)
            parameters = list(self.signature.parameters.values())
        except (TypeError, ValueError):
            self.signature, parameters = None, ()
        open_ended = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
        self.keyword_only = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
        self.parameters = None if open_ended or not parameters else len(parameters)
        self.in_order = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.own_defaults = {p.name for p in parameters if p.default is not p.empty}

    def given(self, args, kwargs):
        """Whether the caller chose every tunable itself, as kiln does while it tunes: then no table is needed, and none that
        an older version of the function has left is in the way."""
        if self.keyword_only:
            if self.keyword_only <= kwargs.keys():
                return True
        elif kwargs and len(args) + len(kwargs) == self.parameters:
            return True
        return self.table is not None and self.tunables <= kwargs.keys()

    def fill(self, args, kwargs):
        key = tuple([kind(value) for value in args]), kind(kwargs)
        known = self.stated(args, kwargs) if self.find_dims else {}
        if known:
            key += kind(known),
        try:
            chosen = self.chosen.get(key)
        except TypeError:
            key = chosen = None
        if chosen is None:
            chosen = self.choose(args, kwargs, known)
            # What the caller gives by position cannot be given again by name.
            chosen = {name: value for name, value in chosen.items() if name not in self.in_order[:len(args)]}
            if key is not None:
                if len(self.chosen) >= REMEMBERED:
                    self.chosen.clear()
                self.chosen[key] = chosen
        return {**chosen, **kwargs}

    @property
    def tunables(self):
        return set(self.table.tunables)

    def stated(self, args, kwargs):
        """What `dims=` gives for a call. It may depend on anything, such as an attribute or what an array holds, so that it is
        asked each time."""
        return self.find_dims(*args, **self.without_tunables(kwargs)) if self.load() else {}

    def load(self):
        """Whether there is a table."""
        if self.table is None:
            try:
                self.table = Table(self.path)
            except BadTable as error:
                if self.stale == "error":
                    raise
                self.warn(str(error))
        return self.table is not None

    def without_tunables(self, kwargs):
        return {name: value for name, value in kwargs.items() if name not in self.tunables}

    def choose(self, args, kwargs, known):
        """The tunables for a call; those the caller gives are among them."""
        if not self.load():
            return {}
        values = self.values(args, self.without_tunables(kwargs))
        dims = {}
        try:
            dims, variant = self.solve(values, known)
            arch = self.arch or architecture(values.values())
            found = self.table.serving(arch, variant, dims)
            if not found:
                return self.refuse(None, dims, self.why_none(arch, variant, dims))
        except Mismatch as error:
            return self.refuse(None, dims, str(error))
        why = self.differs(found[0])
        return self.refuse(found[0], dims, why) if why else dict(found[0].config)

    def values(self, args, kwargs):
        """The call's values by argument name. Dicts, as kiln passes them, count by their keys."""
        if self.signature is None:
            return dict(kwargs)
        try:
            named = self.signature.bind_partial(*args, **kwargs).arguments
        except TypeError:
            # The call itself says it better.
            self.function(*args, **kwargs)
            raise
        values = {}
        for name, value in named.items():
            values.update(value if isinstance(value, Mapping) else {name: value})
        return values

    def solve(self, values, known):
        if not isinstance(known, Mapping):
            raise Mismatch("dims= returned %s, expected a dict of dimensions" % type(known).__name__)
        dims, variant = solve(self.table.arguments, values, known)
        wanted = self.table.dims
        missing = [name for name in wanted if name not in dims]
        if missing:
            names = ", ".join(argument.name for argument in self.table.arguments)
            raise Mismatch("the call does not give %s: no argument named %s has it as a plain side; "
                           "pass dims=lambda ...: {\"%s\": ...} to kiln.tuned" % (", ".join(missing), names, missing[0]))
        return {name: dims[name] for name in wanted}, variant

    def why_none(self, arch, variant, dims):
        table, archs = self.table, self.table.archs()
        if arch not in archs:
            return "no winner for %s; it was tuned on %s" % (arch, ", ".join(map(str, archs)) or "nothing yet")
        wanted = sorted(variant.items())
        if not any(sorted(entry.variant) == sorted(variant) for entry in table.entries if entry.arch == arch):
            return "no winner for %s" % words(dict(wanted))
        tuned = ", ".join(dict.fromkeys(words(entry.variant) for entry in table.entries if entry.variant))
        return "no winner for %s%s is valid there%s" % (
            words(dims), " with %s" % words(variant) if variant else "", "; it was tuned with %s" % tuned if tuned else "")

    def differs(self, entry):
        """Why a winner does not apply any more; looked into once for each."""
        if id(entry) not in self.checked:
            self.checked[id(entry)] = changed_sources(entry, self.table, self.function) or changed_versions(entry)
        return self.checked[id(entry)]

    def refuse(self, entry, dims, why):
        """What to do without a winner that applies."""
        of = " for %s" % words(dims) if dims else ""
        said = "%s: no winner of %s applies%s: %s" % (self.table.path, self.table.kernel, of, why)
        error = Stale(said, why, self.table.command)
        if self.stale == "error":
            raise error
        if self.stale == "warn":
            self.warn(str(error), why)
            if entry is not None:
                return dict(entry.config)
        # A default of the function's own is newer than the table's.
        return {name: value for name, value in self.table.default.items() if name not in self.own_defaults}

    def warn(self, said, why=None):
        why = why or said
        if self.stale == "warn" and why not in self.warned:
            self.warned.add(why)
            warnings.warn(said, StaleWarning, stacklevel=6)


def beside(function, path):
    """A relative path is meant from the function's file, wherever the program was started."""
    path = os.fspath(path)
    own = source_file(function)
    return path if os.path.isabs(path) or not own else os.path.join(os.path.dirname(own), path)


def words(dims):
    return " ".join("%s=%s" % pair for pair in dims.items())


def kind(value):
    """What the choice depends on: shapes, dtypes and devices of arrays, numbers and texts as they are, and the types of other
    objects, which are not kept."""
    shape = getattr(value, "shape", None)
    # NumPy's numbers have a shape, too.
    if shape is not None and not (shape == () and isinstance(value, Number)):
        return shape, getattr(value, "dtype", None), getattr(value, "device", None)
    if isinstance(value, PLAIN):
        return type(value), value
    if isinstance(value, Mapping):
        return tuple([(name, kind(part)) for name, part in value.items()])
    if isinstance(value, (tuple, list)):
        return tuple([kind(part) for part in value])
    return type(value)
