"""`kiln.tuned`: which winner a call gets, and when there is none. The source files and tables are real; arrays are stand-ins
with a shape and a dtype, so that nothing needs to be installed."""

import functools
import gc
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
import weakref

import kiln
from kiln.staleness import processor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = '''"""A kernel: it returns the tunables it was called with."""
import kiln

@kiln.tuned("tuned.json", stale=STALE)
def rows(inputs, scalars, outputs, *, BLOCK, WAY):
    return BLOCK, WAY

@kiln.tuned("tuned.json", stale=STALE)
def plain(x, *, BLOCK=1, WAY="own"):
    return BLOCK, WAY
'''


class Array:
    def __init__(self, *shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype


class Scalar(int):
    """A number as NumPy has them."""

    shape, dtype = (), "int64"

    def item(self):
        return int(self)


def entry(workload, rows, cols, block, way="a", **more):
    dims = {"ROWS": rows, "COLS": cols}
    return dict(arch=processor(), workload=workload, dims=dims, config={"BLOCK": block, "WAY": way}, **more)


class Tuned(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.table = {
            "format": "kiln-tuned", "version": 1, "kernel": "rows", "device": "cpu",
            "command": "kiln tune rows --target python --adopt",
            "arguments": [
                {"name": "x", "role": "in", "type": "f32[ROWS, COLS]"},
                {"name": "y", "role": "out", "type": "f32[ROWS, COLS]"},
            ],
            "tunables": ["BLOCK", "WAY"], "default": {"BLOCK": 2, "WAY": "default"},
            "tuned": [entry("short", 64, 128, 8), entry("long", 64, 4096, 32, "b")],
        }

    def load(self, stale="error", source=SOURCE):
        with open(os.path.join(self.folder, "rows.py"), "w", encoding="utf-8") as file:
            file.write("STALE = %r\n" % stale + source)
        self.write()
        spec = importlib.util.spec_from_file_location("rows", file.name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def write(self):
        with open(os.path.join(self.folder, "tuned.json"), "w", encoding="utf-8") as file:
            json.dump(self.table, file)

    def called(self, module, *shape, **more):
        return module.rows({"x": Array(*shape)}, {}, {"y": Array(*shape)}, **more)

    def stale(self, call, *words):
        with self.assertRaises(kiln.Stale) as caught:
            call()
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertIn("hint: tune again: kiln tune rows --target python --adopt", str(caught.exception))
        self.assertEqual(type(caught.exception).__module__, "kiln")
        return caught.exception

    def test_a_call_gets_the_winner_for_its_shape_or_the_nearest(self):
        module = self.load()
        self.assertEqual(self.called(module, 64, 128), (8, "a"))
        self.assertEqual(self.called(module, 64, 4096), (32, "b"))
        # In doublings 1000 is nearer to 4096 than to 128.
        self.assertEqual(self.called(module, 64, 1000), (32, "b"))
        self.assertEqual(self.called(module, 100, 500), (8, "a"))
        self.assertEqual(module.plain(Array(64, 4096)), (32, "b"))
        self.assertEqual(module.plain.__name__, "plain")

    def test_of_two_for_one_shape_the_later_one_counts(self):
        self.table["tuned"].append(entry("again", 64, 128, 16))
        self.assertEqual(self.called(self.load(), 64, 128), (16, "a"))

    def test_keyword_arguments_of_the_caller_win(self):
        module = self.load()
        self.assertEqual(self.called(module, 64, 128, BLOCK=5), (5, "a"))
        os.remove(os.path.join(self.folder, "tuned.json"))
        # As kiln calls it before there is a table.
        self.assertEqual(self.called(self.load_again(), 64, 128, BLOCK=5, WAY="mine"), (5, "mine"))

    def test_a_table_of_older_tunables_is_not_in_kilns_way(self):
        module = self.load()
        self.called(module, 64, 128)
        source = "import kiln\n@kiln.tuned('tuned.json')\ndef rows(inputs, scalars, outputs, BLOCK):\n    return BLOCK\n"
        self.assertEqual(self.called(self.load(source=source), 64, 128, BLOCK=3), 3)
        partial = functools.partial(lambda x, BLOCK, WAY: BLOCK, WAY=1)
        self.assertEqual(kiln.tuned(os.path.join(self.folder, "tuned.json"))(partial)(Array(64, 128)), 8)

    def load_again(self, stale="error"):
        module = self.load(stale)
        os.remove(os.path.join(self.folder, "tuned.json"))
        return module

    def test_a_winner_that_breaks_a_constraint_on_the_shape_is_passed_over(self):
        self.table["derived"] = {"part": "ceildiv(COLS, BLOCK)"}
        self.table["constraints"] = {"fits": "part <= 64 and BLOCK in [8, 32]"}
        module = self.load()
        self.assertEqual(self.called(module, 64, 600), (32, "b"), "8 * 64 columns at most")
        self.stale(lambda: self.called(module, 64, 2**16), "ROWS=64 COLS=65536", "is valid there")
        # On the shape it was tuned for, kiln itself has checked it.
        self.table["constraints"] = {"banks": "bank_conflicts(BLOCK, 4) == 0"}
        module = self.load()
        self.assertEqual(self.called(module, 64, 128), (8, "a"))
        self.stale(lambda: self.called(module, 64, 129), "is valid there")

    def test_each_implementation_has_its_own_tunables_and_constraints(self):
        source = """
import kiln

@kiln.tuned("tuned.json", stale=STALE)
def rows(x, *, implementation, **tunables):
    return implementation, tunables
"""
        own = {"tunables": ["implementation", "BLOCK"], "default": {}, "derived": {"TILE": "2 * BLOCK"}, "constraints": {"fits": "COLS % TILE == 0"}}
        other = {"tunables": ["implementation", "WAY"], "default": {}, "derived": {}, "constraints": {}}
        self.table.update(own, implementations={"tiled": own, "plain": other})
        tuned = [entry("short", 64, 128, 0), entry("long", 64, 4096, 0)]
        tuned[0]["config"] = {"implementation": "plain", "WAY": "a"}
        tuned[1]["config"] = {"implementation": "tiled", "BLOCK": 64}
        self.table["tuned"] = tuned
        module = self.load(source=source)
        self.assertEqual(module.rows(Array(64, 128)), ("plain", {"WAY": "a"}))
        self.assertEqual(module.rows(Array(64, 2048)), ("tiled", {"BLOCK": 64}))
        # No tile divides it, and the other has no such rule.
        self.assertEqual(module.rows(Array(64, 4095)), ("plain", {"WAY": "a"}))

    def test_a_type_variable_chooses_by_size_and_prefers_itself(self):
        self.table["arguments"][0]["type"] = self.table["arguments"][1]["type"] = "T[ROWS, COLS]"
        self.table["tuned"] = [
            entry("half", 64, 128, 8, variant={"T": "f16"}), entry("brain", 64, 128, 16, variant={"T": "bf16"}),
            entry("single", 64, 128, 32, variant={"T": "f32"}),
        ]
        module = self.load()
        for dtype, block in [("float16", 8), ("torch.bfloat16", 16), ("float32", 32)]:
            self.assertEqual(module.plain(Array(64, 128, dtype=dtype))[0], block)
        self.stale(lambda: module.plain(Array(64, 128, dtype="float64")), "T=f64")
        del self.table["tuned"][0]
        self.assertEqual(self.load().plain(Array(64, 128, dtype="float16"))[0], 16, "elements of the same size")

    def test_changed_sources_are_refused(self):
        module = self.load()
        with open(module.__file__, "rb") as file:
            now = hashlib.sha256(file.read()).hexdigest()
        for one in self.table["tuned"]:
            one["sources"] = {"rows.py": now}
        self.assertEqual(self.called(self.load(), 64, 128), (8, "a"))
        other = self.load(source=SOURCE + "# changed\n")
        error = self.stale(lambda: self.called(other, 64, 128), "rows.py changed since it was tuned", now[:12])
        self.assertTrue(error.what.startswith("rows.py changed") and error.command.startswith("kiln tune"))
        self.table["tuned"][0]["sources"] = {"gone.py": now}
        self.stale(lambda: self.called(self.load(), 64, 128), "gone.py, which it was tuned with, is not beside")

    def test_another_version_of_a_package_is_refused(self):
        self.table["tuned"][0]["versions"] = {"surely_not_installed": "3.1"}
        self.stale(lambda: self.called(self.load(), 64, 128), "surely_not_installed is not installed, tuned with 3.1")
        sys.modules["surely_not_installed"] = module = type(sys)("surely_not_installed")
        self.addCleanup(sys.modules.pop, "surely_not_installed")
        module.__version__ = "3.2"
        self.stale(lambda: self.called(self.load(), 64, 128), "surely_not_installed is 3.2, tuned with 3.1")
        module.__version__ = "3.1"
        self.assertEqual(self.called(self.load(), 64, 128), (8, "a"))

    def test_another_architecture_is_refused(self):
        for one in self.table["tuned"]:
            one["arch"] = "sm_90"
        self.stale(lambda: self.called(self.load(), 64, 128), "no winner for %s" % processor(), "tuned on sm_90")
        on_gpu = kiln.tuned(os.path.join(self.folder, "tuned.json"), arch="sm_90")(lambda x, BLOCK=0, WAY=0: BLOCK)
        self.assertEqual(on_gpu(Array(64, 128)), 8)

    def test_stale_winners_may_warn_or_give_way_to_the_default(self):
        for one in self.table["tuned"]:
            one["sources"] = {"rows.py": "0" * 64}
        module = self.load("warn")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                self.assertEqual(self.called(module, 64, 128), (8, "a"))
            self.assertEqual(self.called(module, 65, 128), (8, "a"))
        self.assertEqual(len(caught), 1, "once, not for each call")
        self.assertTrue(issubclass(caught[0].category, kiln.StaleWarning))
        self.assertEqual(caught[0].filename, __file__)
        module = self.load("default")
        self.assertEqual(self.called(module, 64, 128), (2, "default"))
        self.assertEqual(module.plain(Array(64, 128)), (1, "own"), "a default of the function's own is newer")

    def test_dimensions_that_no_argument_gives_come_from_the_caller(self):
        self.table["arguments"] = [{"name": "x", "role": "in", "type": "f32[ROWS * COLS]"}]
        self.stale(lambda: self.load().plain(Array(8192)), "does not give ROWS, COLS", "pass dims=lambda")
        table = os.path.join(self.folder, "tuned.json")

        @kiln.tuned(table, dims=lambda x: {"ROWS": 64, "COLS": x.shape[0] // 64})
        def flat(x, BLOCK=0, WAY=0):
            return BLOCK

        self.assertEqual(flat(Array(64 * 4096)), 32)
        with self.assertRaisesRegex(kiln.Stale, r"x.shape\[0\] is 100, expected ROWS \* COLS = 64"):
            flat(Array(100))

    def test_dimensions_of_the_caller_count_as_they_are_in_each_call(self):
        self.table["arguments"] = [{"name": "x", "role": "in", "type": "f32[ROWS]"}]
        self.load()
        table = os.path.join(self.folder, "tuned.json")

        class Layer:
            cols = 128

            @kiln.tuned(table, dims=lambda self, x, **_: {"COLS": self.cols})
            def forward(self, x, *, BLOCK, WAY):
                return BLOCK

        @kiln.tuned(table, dims=lambda x, cols: {"COLS": int(cols)})
        def given(x, cols, *, BLOCK, WAY):
            return BLOCK

        layer = Layer()
        self.assertEqual(layer.forward(Array(64)), 8)
        layer.cols = 4096
        self.assertEqual(layer.forward(Array(64)), 32)
        self.assertEqual([given(Array(64), Scalar(128)), given(Array(64), Scalar(4096))], [8, 32])
        kept = weakref.ref(layer)
        del layer
        gc.collect()
        self.assertIsNone(kept(), "what is remembered keeps no object alive")

    def test_numbers_of_numpy_are_numbers(self):
        self.table["arguments"].append({"name": "cols", "role": "scalar", "type": "i64", "value": "COLS"})
        self.table["arguments"][:2] = [{"name": "x", "role": "in", "type": "f32[ROWS]"}]
        module = self.load()
        called = lambda cols: module.rows({"x": Array(64)}, {"cols": Scalar(cols)}, {})
        self.assertEqual([called(128), called(4096)], [(8, "a"), (32, "b")])

    def test_tunables_that_the_caller_gives_by_position_win(self):
        self.load()

        @kiln.tuned(os.path.join(self.folder, "tuned.json"))
        def placed(x, BLOCK=0, WAY=0):
            return BLOCK, WAY

        self.assertEqual(placed(Array(64, 128), 5), (5, "a"))
        self.assertEqual(placed(Array(64, 128), 5, "mine"), (5, "mine"))
        self.assertEqual(placed(Array(64, 128)), (8, "a"))

    def test_scalars_give_dimensions_and_everything_must_agree(self):
        self.table["arguments"].append({"name": "cols", "role": "scalar", "type": "i64", "value": "COLS"})
        module = self.load()
        inputs, outputs = {"x": Array(64, 128)}, {"y": Array(64, 128)}
        self.assertEqual(module.rows(inputs, {"cols": 128}, outputs), (8, "a"))
        self.stale(lambda: module.rows(inputs, {"cols": 129}, outputs), "cols is 129, but COLS is 128 elsewhere")
        self.stale(lambda: module.rows(inputs, {}, {"y": Array(64, 127)}), "y.shape[1] is 127, but COLS is 128")
        self.stale(lambda: module.plain(Array(64)), "x is [64], expected [ROWS, COLS]")
        self.stale(lambda: module.plain(Array(64, 128, dtype="int8")), "x is i8, expected f32")
        self.stale(lambda: module.plain([1]), "x is no array, but list")

    def test_a_file_that_is_no_table_is_refused(self):
        module = self.load()
        path = os.path.join(self.folder, "tuned.json")

        def bad(text, words):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            with self.assertRaises(kiln.BadTable) as caught:
                self.called(self.reload(module), 64, 128)
            self.assertIn("tuned.json: " + words, str(caught.exception))
            self.assertIn("hint: ", str(caught.exception))

        bad("{", "not JSON: ")
        bad("[]", 'expected "format": "kiln-tuned"')
        bad('{"format": "other"}', 'expected "format"')
        bad('{"format": "kiln-tuned", "version": 2}', "version 2 of the format, this package reads version 1")
        bad('{"format": "kiln-tuned", "version": 1}', "not a table of winners: no 'kernel'")
        del self.table["tuned"][0]["config"]["WAY"]
        bad(json.dumps(self.table), "not a table of winners: the winner for `short` has no WAY")
        os.remove(path)
        with self.assertRaisesRegex(kiln.BadTable, "no such file\nhint: `kiln tune PATH --target python --adopt`"):
            self.called(self.reload(module), 64, 128)
        self.assertEqual(module.plain.__wrapped__(Array(1, 1)), (1, "own"))
        with self.assertRaisesRegex(ValueError, 'expected "error", "warn" or "default"'):
            kiln.tuned("tuned.json", stale="ignore")

    def reload(self, module):
        spec = importlib.util.spec_from_file_location("rows", module.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_nothing_of_kiln_is_needed_beside_the_package(self):
        module = self.load()
        program = "import sys; sys.path[:0] = %r\nimport rows\nclass A:\n shape = (64, 4096); dtype = 'float32'\nprint(rows.plain(A()))"
        done = subprocess.run([sys.executable, "-c", program % [os.path.dirname(module.__file__), ROOT]],
                              env={"PATH": ""}, cwd="/", capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("(32, 'b')\n", ""))

    def test_arrays_of_numpy_are_understood(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        module = self.load()
        self.assertEqual(module.plain(numpy.zeros((64, 4096), "f4")), (32, "b"))
        self.stale(lambda: module.plain(numpy.zeros((64, 4096))), "x is f64, expected f32")


if __name__ == "__main__":
    unittest.main()
