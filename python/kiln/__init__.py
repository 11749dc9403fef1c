"""kiln at run time. `kiln.tuned` applies the winners that `kiln tune --adopt` wrote; `python -m kiln.capture` records what a
program calls. Neither needs the kiln binary, nor any package beyond the standard library."""

from kiln.applying import tuned
from kiln.errors import BadTable, Mismatch, Stale, StaleWarning

__all__ = ["BadTable", "Mismatch", "Stale", "StaleWarning", "tuned"]
