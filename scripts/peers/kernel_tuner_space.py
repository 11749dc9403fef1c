"""Worker: build one space with Kernel Tuner, print {"valid", "seconds"} as the last line.

(Not named kernel_tuner.py: a script's own folder comes first on sys.path and would shadow it.)
"""

import json
import sys
import time
import warnings

# python-constraint2 compiles each condition in several guises; CPython warns about some of them.
warnings.filterwarnings("ignore", category=SyntaxWarning)

from kernel_tuner.searchspace import Searchspace

import t1

text = t1.read(sys.argv[1])

# The clock starts at the file's text, as kiln's does. Default framework and solver, conditions as strings: the documented and fastest way.
# block_size_names=[] switches off the rule block_size_x*y*z <= max_threads that Kernel Tuner
# otherwise adds by itself; the T1 files state it where it is wanted.
start = time.perf_counter()
params, conditions = t1.parse(text)
space = Searchspace(params, conditions, 1024, block_size_names=[])
seconds = time.perf_counter() - start

print(json.dumps({"valid": space.size, "seconds": seconds}))
