"""Stands in for Triton, see ../README.md."""

from types import SimpleNamespace

from . import runtime
from .runtime.jit import JITFunction

knobs = SimpleNamespace(nvidia=SimpleNamespace(dump_ptxas_log=False))


def jit(function):
    return JITFunction(function)
