"""A table of winners, `tuned.json`. In: its path. Out: the winners that serve a shape, nearest first, by the rule that kiln has
for `tuned.toml`. Refuses, as `BadTable`, a file that is missing, is no such table, or is of another version."""

import json
import os

from kiln.distance import distance
from kiln.errors import BadTable
from kiln.expressions import BYTES, Unknown, evaluate
from kiln.shapes import Argument

FORMAT, VERSION = "kiln-tuned", 1
ADOPT = "`kiln tune PATH --target python --adopt` writes it"


class Table:
    def __init__(self, path):
        self.path = os.fspath(path)
        self.folder = os.path.dirname(os.path.abspath(self.path))
        read = self.read()
        try:
            self.kernel, self.device = read["kernel"], read["device"]
            self.command = read.get("command", "")
            self.tunables = list(read["tunables"])
            self.default = dict(read.get("default", {}))
            self.arguments = [Argument(a["name"], a["role"], a.get("type", ""), a.get("value")) for a in read["arguments"]]
            self.derived = dict(read.get("derived", {}))
            self.constraints = dict(read.get("constraints", {}))
            # Where several compete, each has its own tunables and constraints; the winner's `implementation` says whose count.
            self.implementations = {name: dict(own) for name, own in read.get("implementations", {}).items()}
            self.entries = [Entry(entry, self.of(entry["config"], "tunables", self.tunables)) for entry in read["tuned"]]
            for own in self.implementations.values():
                self.tunables.extend(name for name in own["tunables"] if name not in self.tunables)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            words = "no %s" % error if isinstance(error, KeyError) else error
            raise BadTable("%s: not a table of winners: %s" % (self.path, words), ADOPT) from None

    def of(self, config, what, otherwise):
        """What the implementation of a configuration says, or what the table says where there is only one."""
        return self.implementations.get(config.get("implementation"), {}).get(what, otherwise)

    def read(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                read = json.load(file)
        except FileNotFoundError:
            raise BadTable("%s: no such file" % self.path, ADOPT) from None
        except OSError as error:
            raise BadTable("%s: %s" % (self.path, error.strerror)) from None
        except ValueError as error:
            raise BadTable("%s: not JSON: %s" % (self.path, error), ADOPT) from None
        if not isinstance(read, dict) or read.get("format") != FORMAT:
            raise BadTable('%s: expected "format": "%s"' % (self.path, FORMAT), ADOPT)
        if read.get("version") != VERSION:
            raise BadTable("%s: version %s of the format, this package reads version %d" % (
                self.path, read.get("version"), VERSION), "install the package that belongs to that kiln, or adopt again")
        return read

    @property
    def dims(self):
        """Every dimension that some winner has."""
        names = {}
        for entry in self.entries:
            names.update(dict.fromkeys(entry.dims))
        return list(names)

    def archs(self):
        return list(dict.fromkeys(entry.arch for entry in self.entries))

    def serving(self, arch, variant, dims):
        """Winners for a call, those for the nearest shape first: of this architecture, of a variant with elements of the same
        size, and valid on this shape."""
        sizes = {name: BYTES.get(dtype) for name, dtype in variant.items()}

        def fits(entry):
            alike = {name: BYTES.get(dtype) for name, dtype in entry.variant.items()} == sizes
            return entry.arch == arch and alike and (entry.dims == dims or self.allows(entry.config, variant, dims))

        # Of two that are equally near, the one that was adopted last.
        found = [entry for entry in reversed(self.entries) if fits(entry)]
        return sorted(found, key=lambda entry: (distance(dims, entry.dims), entry.variant != variant))

    def allows(self, config, variant, dims):
        """Whether a configuration keeps every constraint on a shape. What cannot be evaluated here counts as broken."""
        names = dict(variant, **dims, **config)
        try:
            for name, expression in self.of(config, "derived", self.derived).items():
                names[name] = evaluate(str(expression), names)
            constraints = self.of(config, "constraints", self.constraints)
            return all(evaluate(str(expression), names) for expression in constraints.values())
        except Unknown:
            return False


class Entry:
    """One winner."""

    def __init__(self, read, tunables):
        self.arch, self.config = read["arch"], dict(read["config"])
        self.variant, self.dims = dict(read.get("variant", {})), dict(read.get("dims", {}))
        self.workload = read.get("workload", "")
        self.sources, self.versions = dict(read.get("sources", {})), dict(read.get("versions", {}))
        missing = [name for name in tunables if name not in self.config]
        if missing:
            raise ValueError("the winner for `%s` has no %s" % (self.workload, missing[0]))
