"""What can be wrong with winners, one class each."""


def with_hint(words, hint):
    return "%s\nhint: %s" % (words, hint) if hint else words


class BadTable(ValueError):
    """A file with winners that is missing, is no JSON, or is of another version."""

    def __init__(self, words, hint=""):
        super().__init__(with_hint(words, hint))


class Mismatch(ValueError):
    """A call that does not fit the kernel's arguments: a shape, an element type, a missing argument."""

    def __init__(self, words, hint=""):
        super().__init__(with_hint(words, hint))


class Stale(RuntimeError):
    """Winners that do not apply here: tuned for other code, another Triton, another architecture or other shapes.

    `what` says what differs, `command` tunes again."""

    def __init__(self, words, what, command):
        super().__init__(with_hint(words, command and "tune again: %s" % command))
        self.what = what
        self.command = command


class StaleWarning(UserWarning):
    """The same as a warning, with `stale="warn"`."""
