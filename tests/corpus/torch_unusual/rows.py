"""A softmax in PyTorch on a GPU in honest but unusual ways, more of them. CASE names the function that is called."""

import concurrent.futures
import functools

import torch
import triton
import triton.language as tl

from baseline import softmax as honest

KEPT = {}


def answer(x):
    y = (x - x.amax(dim=-1, keepdim=True)).exp_()
    return y / y.sum(dim=-1, keepdim=True)


def capturing():
    return torch.cuda.is_current_stream_capturing()


class Layer(torch.nn.Module):
    """A layer as people write it: with parameters, and nobody thinks of gradients."""

    def __init__(self):
        super().__init__()
        self.temperature = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return torch.softmax(x * self.temperature, dim=-1)


def with_gradients(inputs, scalars, outputs):
    if "layer" not in KEPT:
        KEPT["layer"] = Layer().cuda()
    return KEPT["layer"](inputs["x"])


def gradients_in_place(inputs, scalars, outputs):
    """The same, copied to the output under no_grad."""
    if "layer" not in KEPT:
        KEPT["layer"] = Layer().cuda()
    found = KEPT["layer"](inputs["x"])
    with torch.no_grad():
        outputs["y"].copy_(found)


def static_buffer(inputs, scalars, outputs):
    """Returns the same buffer in every call, as code with a graph of its own does."""
    x = inputs["x"]
    if x.shape not in KEPT:
        KEPT[x.shape] = torch.empty_like(x)
    honest(inputs, scalars, {"y": KEPT[x.shape]})
    return KEPT[x.shape]


def own_graph(inputs, scalars, outputs):
    """A graph of its own with its own buffers, replayed; where that is recorded itself, the plain way."""
    x = inputs["x"]
    if capturing():
        return honest(inputs, scalars, outputs)
    if x.shape not in KEPT:
        held = x.clone(), torch.empty_like(x)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            honest({"x": held[0]}, scalars, {"y": held[1]})
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            honest({"x": held[0]}, scalars, {"y": held[1]})
        KEPT[x.shape] = (graph, *held)
    graph, before, after = KEPT[x.shape]
    before.copy_(x)
    graph.replay()
    outputs["y"].copy_(after)


def own_graph_only(inputs, scalars, outputs):
    """The same, and it cannot be recorded: reads a number back."""
    float(inputs["x"][0, 0])
    own_graph(inputs, scalars, outputs)


def inference(inputs, scalars, outputs):
    with torch.inference_mode():
        return answer(inputs["x"])


def autocast(inputs, scalars, outputs):
    """What needs f32 stays f32 there."""
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return torch.softmax(inputs["x"], dim=-1)


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        y = answer(x)
        context.save_for_backward(y)
        return y

    @staticmethod
    def backward(context, gradient):
        (y,) = context.saved_tensors
        return y * (gradient - (gradient * y).sum(dim=-1, keepdim=True))


def own_function(inputs, scalars, outputs):
    return Softmax.apply(inputs["x"])


def dense_view(inputs, scalars, outputs):
    """A view, but a dense one."""
    return answer(inputs["x"]).view(-1).view(inputs["x"].shape)


def padded(inputs, scalars, outputs):
    """A part of a wider workspace."""
    x = inputs["x"]
    wide = torch.empty(len(x), x.shape[1] + 24, device=x.device)
    wide[:, : x.shape[1]].copy_(answer(x))
    return wide[:, : x.shape[1]]


def mapped(inputs, scalars, outputs):
    return torch.vmap(functools.partial(torch.softmax, dim=0))(inputs["x"])


def pool_of_threads(inputs, scalars, outputs):
    """Two threads launch halves on the stream of the call, and are waited for."""
    if "threads" not in KEPT:
        KEPT["threads"] = concurrent.futures.ThreadPoolExecutor(2)
    stream, half = torch.cuda.current_stream(), len(inputs["x"]) // 2

    def part(where):
        with torch.cuda.stream(stream):
            honest({"x": inputs["x"][where]}, scalars, {"y": outputs["y"][where]})

    if capturing():
        # Memory that another thread asks for belongs to no recording.
        return honest(inputs, scalars, outputs)
    list(KEPT["threads"].map(part, [slice(0, half), slice(half, None)]))


def four_streams(inputs, scalars, outputs):
    if "streams" not in KEPT:
        KEPT["streams"] = [torch.cuda.Stream(priority=-(k % 2)) for k in range(4)]
    now, step = torch.cuda.current_stream(), (len(inputs["x"]) + 3) // 4
    begun = now.record_event()
    for k, stream in enumerate(KEPT["streams"]):
        where = slice(k * step, (k + 1) * step)
        if len(inputs["x"][where]):
            stream.wait_event(begun)
            with torch.cuda.stream(stream):
                honest({"x": inputs["x"][where]}, scalars, {"y": outputs["y"][where]})
            now.wait_event(stream.record_event())


def large_workspace(inputs, scalars, outputs):
    """Two gigabytes that are asked for and given back in every call."""
    space = torch.empty(1 << 29, dtype=torch.float32, device="cuda")
    space[: inputs["x"].numel()].copy_(inputs["x"].flatten())
    torch.softmax(space[: inputs["x"].numel()].view_as(inputs["x"]), dim=-1, out=outputs["y"])


def empties_cache(inputs, scalars, outputs):
    """Tidies up after itself where it may."""
    honest(inputs, scalars, outputs)
    if not capturing():
        torch.cuda.empty_cache()


def seeds(inputs, scalars, outputs):
    """Seeds the generator and draws numbers that cancel."""
    if not capturing():
        torch.manual_seed(7)
    noise = torch.rand(1, device="cuda")
    torch.softmax(inputs["x"] + noise * 0, dim=-1, out=outputs["y"])


def double_steps(inputs, scalars, outputs):
    """log_softmax and exp in f64, rounded once."""
    outputs["y"].copy_(torch.log_softmax(inputs["x"].double(), dim=-1).exp_())


def compiled(inputs, scalars, outputs):
    if "compiled" not in KEPT:
        KEPT["compiled"] = torch.compile(lambda x: torch.softmax(x, dim=-1), dynamic=False)
    return KEPT["compiled"](inputs["x"])


@triton.autotune(configs=[triton.Config({}, num_warps=warps) for warps in (1, 2, 4)], key=["cols"])
@triton.jit
def tuned_rows(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + at, mask=at < cols, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * cols + at, e / tl.sum(e, axis=0), mask=at < cols)


def autotuned(inputs, scalars, outputs):
    x, y = inputs["x"], outputs["y"]
    tuned_rows[(len(x),)](x, y, x.shape[1], triton.next_power_of_2(x.shape[1]))


@triton.jit
def chunked_rows(x, y, cols, BLOCK: tl.constexpr):
    """Running maximum and sum over chunks, then a second pass."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    most, total = float("-inf"), 0.0
    for start in range(0, cols, BLOCK):
        v = tl.load(x + row * cols + start + at, mask=start + at < cols, other=float("-inf"))
        new = tl.maximum(most, tl.max(v, axis=0))
        total = total * tl.exp(most - new) + tl.sum(tl.exp(v - new), axis=0)
        most = new
    for start in range(0, cols, BLOCK):
        v = tl.load(x + row * cols + start + at, mask=start + at < cols, other=float("-inf"))
        tl.store(y + row * cols + start + at, tl.exp(v - most) / total, mask=start + at < cols)


def online(inputs, scalars, outputs):
    x, y = inputs["x"], outputs["y"]
    chunked_rows[(len(x),)](x, y, x.shape[1], 128)


def library_op(inputs, scalars, outputs):
    """An operator of its own, registered on the first call."""
    if "library" not in KEPT:
        KEPT["library"] = torch.library.Library("kiln_corpus", "DEF")
        KEPT["library"].define("rows(Tensor x) -> Tensor")
        KEPT["library"].impl("rows", answer, "CUDA")
    return torch.ops.kiln_corpus.rows(inputs["x"])


def changes_dicts(inputs, scalars, outputs):
    """Uses the dicts it is given as its own."""
    y = outputs.pop("y")
    inputs["x"] = inputs["x"] - inputs["x"].amax(dim=-1, keepdim=True)
    torch.softmax(inputs.pop("x"), dim=-1, out=y)


def returns_output(inputs, scalars, outputs):
    """Writes in place, and returns what it wrote."""
    honest(inputs, scalars, outputs)
    return {"y": outputs["y"]}


def rows(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
