"""Compares the package with the kernel's reference, on its workloads that are small enough. Run it with `python -m unittest` in this
folder. Skipped where there is no GPU that the package was exported for."""

import importlib
import importlib.util
import json
import keyword
import os
import sys
import unittest

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as _file:
    TOLD = json.load(_file)
# Elements of all inputs, and products of a reference, at most.
LARGEST, WORK = 1 << 22, 1 << 27
# What an element may be off by: absolute, and relative to the correct value.
ALLOWED = {"f64": (1e-12, 1e-10), "f32": (1e-5, 1e-4), "f16": (2e-3, 2e-3), "bf16": (1e-2, 1.6e-2)}

try:
    package = importlib.import_module(TOLD["module"])
except ImportError as error:
    raise unittest.SkipTest("%s cannot be imported: %s" % (TOLD["module"], error))
call, kernel = getattr(package, TOLD["module"]), package._kernel
table = importlib.import_module(TOLD["module"] + ".table")
if TOLD["arrays"] == "torch":
    import torch


def setUpModule():
    if TOLD["arrays"] == "torch" and not torch.cuda.is_available():
        raise unittest.SkipTest("there is no GPU")


def called(arrays, stated):
    """A call by the parameters' names: a Python keyword has an underscore behind it."""
    return call(**{name + "_" * keyword.iskeyword(name): value for name, value in dict(arrays, **stated).items()})


def double(array):
    """An array in double precision, on the processor."""
    return array.double().cpu().numpy() if hasattr(array, "double") else numpy.asarray(array, numpy.float64)


def filled(argument, names, dtype, seed):
    """An input with the kernel's strides."""
    shape = table.sides(argument, names)
    random = numpy.random.default_rng(seed)
    values = {
        "normal": lambda: random.standard_normal(shape), "uniform": lambda: random.random(shape),
        "zeros": lambda: numpy.zeros(shape), "ones": lambda: numpy.ones(shape),
        "arange": lambda: numpy.arange(int(numpy.prod(shape))).reshape(shape),
    }[TOLD["init"].get(argument["name"], "normal")]()
    if dtype[0] in "iu" and TOLD["init"].get(argument["name"], "normal") in ("normal", "uniform"):
        values = random.integers(0, 100, shape)
    steps = table.strides(argument, names, shape)
    if TOLD["arrays"] == "torch":
        made = torch.empty_strided(shape, steps, dtype=getattr(torch, own_name(dtype)), device="cuda")
        return made.copy_(torch.from_numpy(values).to(made.dtype))
    memory = numpy.empty(max(1, 1 + sum((n - 1) * s for n, s in zip(shape, steps))), own_name(dtype))
    made = numpy.lib.stride_tricks.as_strided(memory, shape, [step * memory.itemsize for step in steps])
    made[...] = values
    return made


def own_name(dtype):
    return {name: own for own, name in table.NAMES.items()}[dtype]


def attention(inputs, scalars):
    q, k, v = inputs.values()
    scale = next((scalars[n] for n in ("scale", "softmax_scale", "sm_scale") if n in scalars), q.shape[-1] ** -0.5)
    causal = any(scalars.get(n) for n in ("causal", "is_causal"))
    group = q.shape[-3] // k.shape[-3]
    k, v = numpy.repeat(k, group, -3), numpy.repeat(v, group, -3)
    scores = scale * numpy.matmul(q, numpy.swapaxes(k, -1, -2))
    rows, columns = scores.shape[-2:]
    if causal:
        scores = numpy.where(numpy.tri(rows, columns, columns - rows, dtype=bool), scores, -numpy.inf)
    most = scores.max(-1, keepdims=True)
    most = numpy.where(numpy.isinf(most), 0.0, most)
    parts = numpy.exp(scores - most)
    total = parts.sum(-1, keepdims=True)
    with numpy.errstate(divide="ignore"):
        lse = (numpy.log(total) + most)[..., 0]
    return [numpy.matmul(parts, v) / numpy.where(total == 0, 1.0, total), lse]


def softmax(inputs, _scalars):
    x, = inputs.values()
    parts = numpy.exp(x - x.max(-1, keepdims=True))
    return [parts / parts.sum(-1, keepdims=True)]


BUILTINS = {
    "attention": attention, "softmax": softmax, "matmul": lambda inputs, _: [numpy.matmul(*inputs.values())],
    "reduction": lambda inputs, _: [next(iter(inputs.values())).sum(-1)],
}


def elementwise(inputs, scalars):
    evaluate = importlib.import_module(TOLD["module"] + ".expressions").evaluate
    names = list(inputs) + list(scalars)
    values = list(inputs.values()) + list(scalars.values())
    return [numpy.vectorize(lambda *one, text=text: float(evaluate(text, dict(zip(names, one)))))(*values)
            for text in TOLD["reference"]["elementwise"].values()]


def in_python(inputs, scalars, outputs):
    file, function = TOLD["reference"]["python"]
    path = os.path.join(HERE, file)
    spec = importlib.util.spec_from_file_location("kiln_reference", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, HERE)
    spec.loader.exec_module(module)
    with open(path, encoding="utf-8") as text:
        as_torch = "import torch" in text.read()
    if as_torch:
        import torch
        inputs = {name: torch.from_numpy(array.copy()) for name, array in inputs.items()}
        outputs = {name: torch.from_numpy(array) for name, array in outputs.items()}
    result = getattr(module, function)(inputs, scalars, outputs)
    if result is not None and not isinstance(result, dict):
        result = {next(iter(outputs)): result}
    outputs.update(result or {})
    return [numpy.asarray(array, numpy.float64) for array in outputs.values()]


def expected(inputs, scalars, names):
    """Correct outputs by name, in double precision."""
    outs = [a for a in table_arguments() if a["role"] in ("out", "inout")]
    reference = TOLD["reference"]
    if "builtin" in reference:
        found = BUILTINS[reference["builtin"]](inputs, scalars)
    elif "elementwise" in reference:
        found = elementwise(inputs, scalars)
    else:
        shapes = {a["name"]: numpy.zeros(table.sides(a, names)) for a in outs}
        shapes.update({a["name"]: inputs[a["name"]].copy() for a in outs if a["role"] == "inout"})
        found = in_python(inputs, scalars, shapes)
    return {a["name"]: value for a, value in zip(outs, found)}


def table_arguments():
    return kernel.table.arguments


class Package(unittest.TestCase):
    def cases(self):
        """Inputs, parameters and names of each case."""
        for case in TOLD["cases"]:
            for variant in TOLD["variants"]:
                names = dict(variant, **case["dims"])
                dtypes = {a["name"]: table.dtype_of(a, variant) for a in kernel.table.inputs}
                sizes = [int(numpy.prod(table.sides(a, names))) for a in kernel.table.inputs]
                work = case["work"] or 0
                if sum(sizes) > LARGEST or work > WORK:
                    continue
                arrays = {a["name"]: filled(a, names, dtypes[a["name"]], i) for i, a in enumerate(kernel.table.inputs)}
                scalars = {}
                for argument in table_arguments():
                    if argument["role"] == "scalar":
                        text = argument["value"]
                        scalars[argument["name"]] = table.evaluate(text, names) if text is not None else 1.0
                stated = {name: case["dims"][dim] for name, dim in TOLD["stated"].items()}
                stated.update({name: scalars[name] for name in TOLD["numbers"]})
                yield case["name"], variant, arrays, stated, scalars, names

    def test_the_reference(self):
        if not TOLD["reference"]:
            self.skipTest("the kernel's reference is another kernel")
        tried = 0
        for name, variant, arrays, stated, scalars, names in self.cases():
            with self.subTest(name, **variant):
                right = expected({n: double(a) for n, a in arrays.items()}, scalars, names)
                made = called(arrays, stated)
                made = made if isinstance(made, tuple) else (made,)
                found = dict(zip(kernel.table.returns, made))
                found.update({a["name"]: arrays[a["name"]] for a in kernel.table.inputs if a["role"] == "inout"})
                for output, array in found.items():
                    self.compare(output, double(array), right[output], variant)
                tried += 1
        self.assertGreater(tried, 0, "no workload is small enough")

    def compare(self, output, found, right, variant):
        dtype = table.dtype_of(kernel.table.by_name[output], variant)
        absolute, relative = TOLD["tolerance"].get(output) or ALLOWED.get(dtype, (0.0, 0.0))
        self.assertEqual(found.shape, right.shape, output)
        same = found == right
        with numpy.errstate(invalid="ignore"):
            off = numpy.where(same, 0.0, numpy.abs(found - right) - (absolute + relative * numpy.abs(right)))
        self.assertTrue((off <= 0).all(), "%s is off by %g at most" % (output, numpy.nanmax(numpy.abs(found - right))))

    def test_scaled_dot_product_attention(self):
        if TOLD["reference"].get("builtin") != "attention" or TOLD["arrays"] != "torch":
            self.skipTest("not attention on a GPU")
        for name, variant, arrays, stated, scalars, _ in self.cases():
            q, k, v = arrays.values()
            causal = bool(scalars.get("causal", 0))
            # PyTorch's mask begins at the top left: it is another one where lengths differ.
            if causal and q.shape[-2] != k.shape[-2]:
                continue
            with self.subTest(name, **variant):
                made = called(arrays, stated)
                made = made[0] if isinstance(made, tuple) else made
                right = torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=causal, scale=scalars.get("scale"), enable_gqa=q.shape[-3] != k.shape[-3])
                self.compare(kernel.table.returns[0], double(made), double(right), variant)


if __name__ == "__main__":
    unittest.main()
