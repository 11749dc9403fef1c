"""kiln at run time. `kiln.tuned` applies the winners that `kiln tune --adopt` wrote; `python -m kiln.capture` records what a
program calls. Neither needs the kiln binary, nor any package beyond the standard library."""

from kiln.applying import tuned
from kiln.errors import BadTable, Mismatch, Stale, StaleWarning

# Shown by the names that programs catch them by.
for _error in (BadTable, Mismatch, Stale, StaleWarning):
    _error.__module__ = "kiln"

__all__ = ["BadTable", "Mismatch", "Stale", "StaleWarning", "tuned"]
