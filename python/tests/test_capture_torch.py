"""Captured operations of PyTorch and kernels of Triton, with the packages themselves, on the processor: Triton interprets its
kernels there. Skipped where they are not installed. GPU timing is not covered."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPERATIONS = '''
import torch
import torch.nn.functional as F
a, b = torch.randn(8, 16, requires_grad=True), torch.randn(16, 4)
for _ in range(3):
    (a @ b).sum().backward()
    F.softmax(a, dim=-1)
    F.scaled_dot_product_attention(a[None], a[None], a[None])
'''
KERNELS = '''
import torch, triton, triton.language as tl
@triton.jit
def scaled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
for n in (100, 100, 300):
    x = torch.arange(n, dtype=torch.float32); y = torch.empty_like(x)
    scaled[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128, num_warps=4)
    assert torch.equal(y, 2 * x)
'''


def has(name):
    return importlib.util.find_spec(name) is not None


@unittest.skipUnless(has("torch"), "no PyTorch")
class Torch(unittest.TestCase):
    def captured(self, program, *words, code=0):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
                file.write(program)
            command = [sys.executable, "-B", "-m", "kiln.capture", *words, "--", "program.py"]
            environment = dict(os.environ, PYTHONPATH=ROOT, TRITON_INTERPRET="1")
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, code, done.stderr)
            texts = {}
            for name in os.listdir(folder):
                if name.endswith(".toml"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        texts[name] = file.read()
            return done.stderr, texts

    def test_operations_are_recorded_by_both_kinds_of_names(self):
        attention = "torch.nn.functional.scaled_dot_product_attention"
        said, texts = self.captured(OPERATIONS, "--op", "aten::mm", "--op", "torch.nn.functional.soft*", "--op", attention)
        # Forward, and backward for a alone.
        self.assertIn("aten.mm (PyTorch operation): 6 calls, 2 kinds; ", said)
        self.assertIn("self f32[8, 16]  mat2 f32[16, 4]", said)
        self.assertIn("mat2 f32[4, 16] strides [1, 4]", said)
        self.assertIn("torch.nn.functional.softmax (PyTorch operation): 3 calls, 1 kind; ", said)
        self.assertIn(attention + " (PyTorch operation): 3 calls, 1 kind; ", said)
        self.assertIn("dims = { self_0 = 8, self_1 = 16, mat2_0 = 16, mat2_1 = 4 }", texts["workloads.aten.mm.toml"])

    def test_what_did_run_is_listed_where_an_operation_did_not(self):
        said, texts = self.captured(OPERATIONS, "--op", "aten.bmm_", code=1)
        self.assertIn("warning: aten.bmm_ was never called\nhint: PyTorch operations that ran: aten.", said)
        self.assertEqual(texts, {})

    @unittest.skipUnless(has("triton"), "no Triton")
    def test_kernels_are_recorded_without_their_configuration(self):
        said, texts = self.captured(KERNELS)
        self.assertIn("scaled (Triton kernel): 3 calls, 2 kinds; ", said)
        self.assertIn("x f32[300]  y f32[300]  n=300\n", said)
        self.assertIn("dims = { x_0 = 100, y_0 = 100, n = 100 }", texts["workloads.toml"])
        said, _ = self.captured(KERNELS, "--op", "scald", code=1)
        self.assertIn("warning: scald was never called\nhint: Triton kernels that ran: scaled\n", said)


if __name__ == "__main__":
    unittest.main()
