"""`python -m kiln.capture` on programs of its own, started as users start it. Arrays are stand-ins with a shape and a dtype."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODEL = '''
import time
class Array:
    def __init__(self, *shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype
def rows(x, scale=1.0):
    time.sleep(0.002 * x.shape[0])
    return x
def twice(x, again=True):
    return twice(x, False) if again else rows(x)
class Layer:
    def forward(self, x):
        return rows(x)
'''
TRAIN = '''
import sys
from model import Array, Layer, rows, twice
def step(x):
    return rows(x)
for _ in range(3):
    step(Array(4, 64))
step(Array(16, 64))
twice(Array(1, 64)); Layer().forward(Array(1, 8))
print("trained", sys.argv[1:])
'''
KERNEL = '''# A kernel file with remarks.
[kernel]
name = "rows"
[tunables]
BLOCK = [1, 2]
[target.python]
entry = "rows.py:rows"
[[arguments]]
name = "x"
type = "f32[ROWS, COLS]"
role = "in"
[[arguments]]
name = "y"
type = "f32[ROWS, COLS]"
role = "out"

[[workloads]]   # by hand
name = "known"
dims = { ROWS = 4, COLS = 64 }
# not in the program
[[workloads]]
name = "other"
dims = { ROWS = 5, COLS = 5 }
weight = 3

# about the reference
[reference]
builtin = "softmax"
'''
NEEDS_TOML = unittest.skipIf(sys.version_info < (3, 11), "tomllib came with Python 3.11")


class Capture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("model.py", MODEL)
        self.write("train.py", TRAIN)
        self.write("kernel.toml", KERNEL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def start(self, *words):
        command = [sys.executable, "-B", "-m", "kiln.capture", *words]
        environment = dict(os.environ, PYTHONPATH=ROOT)
        # Whoever runs the tests in the background has interrupts ignored, which would be inherited.
        return subprocess.Popen(command, cwd=self.folder, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def run_it(self, *words, code=0):
        process = self.start(*words)
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, error)
        return out, error

    def refused(self, *words, says):
        _, error = self.run_it(*words, code=2)
        self.assertIn("error: " + says, error)
        self.assertNotIn("Traceback", error)
        self.assertFalse(os.path.exists(self.path("workloads.toml")))

    def test_calls_become_workloads_weighted_by_time(self):
        out, error = self.run_it("--op", "model:rows", "--", "train.py", "--steps", "3")
        self.assertEqual(out, "trained ['--steps', '3']\n", "standard output is the program's")
        self.assertIn("model:rows (function): 6 calls, 4 kinds; ", error)
        self.assertRegex(error, r"\n  at most \d+\.\d\dx for the whole program if it took no time\n")
        self.assertRegex(error, r"\n +[\d.]+ % +3 +[\d.]+ ms  x f32\[4, 64\]\n")
        self.assertRegex(error, r"recording took [\d.]+ [mu]s, [\d.]+ us a call")
        text = self.read("workloads.toml")
        found = re.findall(r"dims = { x_0 = (\d+), x_1 = (\d+) }\nweight = ([\d.]+)", text)
        weights = {(int(rows), int(cols)): float(weight) for rows, cols, weight in found}
        self.assertEqual(set(weights), {(4, 64), (16, 64), (1, 64), (1, 8)})
        self.assertAlmostEqual(sum(weights.values()), 100, delta=1)
        # 3 calls of 8 ms and one of 32 ms, however busy the machine is.
        self.assertGreater(weights[16, 64], weights[1, 64])
        self.assertIn('name = "x_0-16_x_1-64"', text)
        self.assertIn("[[workloads]]  # %.3g %% of its time, 1 call; f32\n" % weights[16, 64], text)

    def test_a_file_that_is_not_from_a_capture_stays(self):
        self.write("workloads.toml", "# mine\n")
        _, error = self.run_it("--op", "model:rows", "--", "train.py")
        self.assertIn("wrote workloads.1.toml; workloads.toml is not from kiln capture, and stays", error)
        self.assertEqual(self.read("workloads.toml"), "# mine\n")
        _, error = self.run_it("--op", "model:rows", "--out", "workloads.1.toml", "--", "train.py")
        self.assertIn("wrote workloads.1.toml\n", error, "one from a capture is written again")

    def test_files_lie_where_it_was_started_wherever_the_program_goes(self):
        self.write("leaves.py", "import os, runpy\nos.mkdir('away')\nos.chdir('away')\nrunpy.run_path('../train.py')\n")
        self.run_it("--op", "model:rows", "--", "leaves.py")
        self.assertTrue(os.path.exists(self.path("workloads.toml")))
        self.assertEqual(os.listdir(self.path("away")), [])

    @NEEDS_TOML
    def test_a_kernel_file_that_is_edited_meanwhile_keeps_the_edit(self):
        edit = "open('kernel.toml', 'a').write('\\n# edited\\n')\n"
        self.write("edits.py", edit + "import runpy\nrunpy.run_path('train.py')\n")
        self.run_it("--op", "model:rows", "--into", "kernel.toml", "--write", "--", "edits.py")
        text = self.read("kernel.toml")
        self.assertIn("# edited\n", text)
        self.assertIn("ROWS = 16", text)

    def test_a_call_inside_another_is_counted_once(self):
        _, error = self.run_it("--op", "model:twice", "--", "train.py")
        self.assertIn("model:twice (function): 1 call, 1 kind; ", error)

    def test_functions_of_the_program_and_methods_are_recorded(self):
        _, error = self.run_it("--op", "__main__:step", "--op", "model:Layer.forward", "--", "train.py")
        self.assertIn("__main__:step (function): 4 calls, 2 kinds; ", error)
        self.assertIn("model:Layer.forward (function): 1 call, 1 kind; ", error)
        self.assertIn("x_0 = 16", self.read("workloads.__main___step.toml"))
        self.assertIn("x_1 = 8", self.read("workloads.model_Layer.forward.toml"))

    def test_a_name_that_another_module_has_imported_before_is_recorded_too(self):
        self.write("user.py", "from model import rows\ndef call(x):\n    return rows(x)\n")
        self.write("train.py", "import model, user\nuser.call(model.Array(1, 1))\n")
        _, error = self.run_it("--op", "user:call", "--op", "model:rows", "--", "train.py")
        self.assertIn("model:rows (function): 1 call, 1 kind; ", error)

    def test_a_module_runs_as_a_program_too(self):
        out, error = self.run_it("--op", "model:rows", "--", "-m", "train", "x")
        self.assertTrue(out.startswith("trained ['x']"), out)
        self.assertIn("6 calls", error)

    @NEEDS_TOML
    def test_a_kernel_file_gets_weights_and_workloads_and_loses_nothing(self):
        _, error = self.run_it("--op", "model:rows", "--into", "kernel.toml", "--", "train.py")
        self.assertIn("+dims = { ROWS = 16, COLS = 64 }", error)
        self.assertIn("hint: --write applies this change to kernel.toml", error)
        self.assertEqual(self.read("kernel.toml"), KERNEL, "it is only shown")
        _, error = self.run_it("--op", "model:rows", "--into", "kernel.toml", "--write", "--", "train.py")
        self.assertIn("wrote kernel.toml: 3 workloads added, 1 weighted", error)
        new = self.read("kernel.toml")
        added = [line for line in new.splitlines() if line not in KERNEL.splitlines()]
        self.assertTrue(all(line.startswith(("weight = ", "dims = ", "name = ", "[[workloads]]  # ")) for line in added), added)
        kept = [line for line in new.splitlines() if line in KERNEL.splitlines()]
        self.assertEqual([line for line in kept if line], [line for line in KERNEL.splitlines() if line])
        self.assertLess(new.index("ROWS = 16"), new.index("# about the reference"))
        # A second time the same workloads are known, and only weights change.
        _, error = self.run_it("--op", "model:rows", "--into", "kernel.toml", "--write", "--", "train.py")
        self.assertIn("wrote kernel.toml: 0 workloads added, 4 weighted", error)
        self.assertEqual(self.read("kernel.toml").count("[[workloads]]"), 5)

    @NEEDS_TOML
    def test_calls_that_do_not_fit_a_kernel_file_change_nothing(self):
        for old, new, says in [
            ("f32[ROWS, COLS]", "f32[ROWS]", r"x is \[\d+, \d+\], expected \[ROWS\]"),
            ("f32[ROWS, COLS]", "f16[ROWS, COLS]", "x is f32, expected f16"),
            ("COLS = 64", "COLS = 64, MASK = 0", "the calls do not give MASK\nhint: state it: --dim MASK=VALUE"),
            ('name = "x"', 'name = "q"\ntype = "f32[ROWS]"\nrole = "in"\n[[arguments]]\nname = "k"',
             r"a call has 1 array \(x\), the kernel file has 2 inputs \(q, k\)"),
        ]:
            self.write("kernel.toml", KERNEL.replace(old, new))
            _, error = self.run_it("--op", "model:rows", "--into", "kernel.toml", "--write", "--", "train.py", code=2)
            self.assertRegex(error, "error: " + says)
            self.assertEqual(self.read("kernel.toml"), KERNEL.replace(old, new))
        self.write("kernel.toml", KERNEL.replace("COLS = 64", "COLS = 64, MASK = 0").replace("COLS = 5", "COLS = 5, MASK = 0"))
        _, error = self.run_it("--op", "model:rows", "--into", "kernel.toml", "--dim", "MASK=0", "--", "train.py")
        self.assertIn("+dims = { ROWS = 16, COLS = 64, MASK = 0 }", error)

    @NEEDS_TOML
    def test_arrays_of_another_name_are_matched_in_their_order(self):
        self.write("kernel.toml", KERNEL.replace('name = "x"', 'name = "other"'))
        _, error = self.run_it("--op", "model:rows", "--into", "kernel.toml", "--", "train.py")
        self.assertIn("+dims = { ROWS = 16, COLS = 64 }", error)

    def test_what_cannot_be_recorded_is_refused_before_the_program_runs(self):
        program = ("--", "train.py")
        self.refused("--op", "model:nothing", *program, says="model:nothing: model has no nothing")
        self.refused("--op", "nowhere:f", *program, says="nowhere:f: cannot import nowhere: No module named 'nowhere'")
        self.refused("--op", "model:MODEL", *program, says="model:MODEL: model has no MODEL")
        self.refused("--op", "model:time", *program, says="model:time: it is no function, but module")
        self.refused("--op", "__main__:nothing", *program, says="__main__:nothing: train.py defines no such function")
        self.refused("--op", "model:rows", "--", "gone.py", says="gone.py: no such file")
        self.refused("--op", "model:rows", says="no program to run")
        self.refused("--op", "model:rows", "--write", *program, says="--write: ")
        self.refused("--op", "model:rows", "--dim", "x", *program, says="--dim x: expected NAME=VALUE")
        self.refused("--op", "model:rows", "--into", "gone.toml", *program, says="--into gone.toml: No such file")
        self.write("kernel.toml", "[[arguments]]\nname = \n")
        self.refused("--op", "model:rows", "--into", "kernel.toml", *program, says="--into kernel.toml: ")

    def test_an_operation_that_is_never_called_is_named(self):
        self.write("idle.py", "import model\n")
        _, error = self.run_it("--op", "model:rows", "--", "idle.py", code=1)
        self.assertIn("warning: model:rows was never called", error)
        self.assertFalse(os.path.exists(self.path("workloads.toml")))

    def test_the_programs_exit_code_is_passed_on_and_calls_are_kept(self):
        for end, code in [("sys.exit(7)", 7), ("sys.exit('over')", 1), ("raise RuntimeError('broken')", 1), ("sys.exit()", 0)]:
            self.write("train.py", TRAIN + end + "\n")
            _, error = self.run_it("--op", "model:rows", "--", "train.py", code=code)
            self.assertIn("and ended with %d\n" % code, error)
            self.assertIn("wrote workloads.toml", error)
            if "broken" in end:
                self.assertIn("RuntimeError: broken", error)
                self.assertNotIn("kiln/capture", error, "the traceback is the program's")
            os.remove(self.path("workloads.toml"))

    def test_an_interrupted_or_terminated_program_keeps_what_was_captured(self):
        self.write("train.py", TRAIN + "print('ready', flush=True)\nimport time\ntime.sleep(600)\n")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start("--op", "model:rows", "--", "train.py")
            while "ready" not in process.stdout.readline():
                self.assertIsNone(process.poll())
            process.send_signal(number)
            # Less than the program sleeps.
            _, error = process.communicate(timeout=120)
            self.assertEqual(process.returncode, code, error)
            self.assertIn("wrote workloads.toml", error)
            os.remove(self.path("workloads.toml"))

    def test_forked_processes_end_as_ever_and_write_nothing(self):
        self.write("train.py", TRAIN + """
import os, signal, sys, time
child = os.fork()
if child == 0:
    rows(Array(3, 3))
    sys.exit(7)
print('left', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
child = os.fork()
if child == 0:
    time.sleep(600)
os.kill(child, signal.SIGTERM)
print('ended', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
        out, error = self.run_it("--op", "model:rows", "--", "train.py")
        self.assertIn("left 7\nended -15\n", out)
        self.assertNotIn("Traceback", error)
        self.assertEqual(error.count("kiln capture: the program ran"), 1, error)
        self.assertNotIn("3, 3", self.read("workloads.toml"))

    def test_scalars_that_differ_each_time_do_not_make_kinds_without_end(self):
        self.write("train.py", "from model import *\nfor i in range(400): rows(Array(0, 64), scale=i)\n")
        _, error = self.run_it("--op", "model:rows", "--", "train.py")
        self.assertIn("model:rows (function): 400 calls, 257 kinds; ", error)
        self.assertIn("note: 241 workloads left out, ", error)
        self.assertEqual(self.read("workloads.toml").count("[[workloads]]"), 16)

    def test_values_are_saved_up_to_a_limit(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        self.write("train.py", "import numpy\nfrom model import rows\nfor n in (1, 1, 2, 300):\n"
                               "    rows(numpy.full((n, 1024), n, 'f4')[:1])\n    rows(numpy.full((n, 1024), n, 'f4').T[:2, :n])\n")
        _, error = self.run_it("--op", "model:rows", "--values", "kept", "--values-limit", "0.005", "--", "train.py")
        self.assertIn("wrote ", error)
        self.assertIn("beyond --values-limit left out", error)
        first = numpy.load(self.path("kept/model_rows_1_x.npy"))
        self.assertEqual((first.shape, first[0, 0]), ((1, 1024), 1.0))
        self.assertRegex(error, r"x f32\[2, 300\] strides \[1, 1024\]")


if __name__ == "__main__":
    unittest.main()
