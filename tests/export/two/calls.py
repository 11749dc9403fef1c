"""Calls the exported package once on the stand-in for torch, on as many rows as asked for, and prints the addresses of its buffers."""

import ctypes
import os
import sys

import doubled as package
import torch

plans, bind = [], package._bind
package._bind = lambda plan: plans.append(plan) or bind(plan)
more = {"scale": float(sys.argv[2])} if len(sys.argv) > 2 else {}
package.doubled(torch.tensor((int(sys.argv[1]), 64), torch.float32), **more)
words = plans[0].words
print(*[words[name].value if name in words else 0 for name in ("x", "y", "part")])
# Each capture into a graph has a copy of its own; what came before and comes after has another.
driver = ctypes.CDLL("libcuda.so.1")
loads = [driver.stand_in_loaded()]
log = os.environ.pop("STAND_IN_LOG")
for capture in (1, 1, 2, 0, 0):
    driver.stand_in_capture(ctypes.c_uint64(capture))
    torch.captured = capture != 0
    package.doubled(torch.tensor((int(sys.argv[1]), 64), torch.float32), **more)
    loads.append(driver.stand_in_loaded())
assert loads == [1, 2, 2, 3, 3, 3], loads
os.environ["STAND_IN_LOG"] = log
