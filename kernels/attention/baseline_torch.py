"""Attention as PyTorch has it: the backend scaled_dot_product_attention would choose, and each of them forced.

The public function keeps the logarithms of the rows' sums to itself, so that its backends are called by their own names;
the kernels are the same. They align a causal mask at the top left, which is the same thing only where queries and keys
are as many."""

import torch

# What torch._fused_sdp_choice answers with.
MATH, FLASH, EFFICIENT, CUDNN = range(4)


def default(inputs, scalars, outputs):
    q, k, v = (inputs[name] for name in "qkv")
    causal, shared = bool(scalars["causal"]), k.shape[1] < q.shape[1]
    choice = torch._fused_sdp_choice(q, k, v, is_causal=causal, scale=scalars["scale"], enable_gqa=shared)
    return {FLASH: flash, EFFICIENT: efficient, CUDNN: cudnn}.get(choice, math)(inputs, scalars, outputs)


def flash(inputs, scalars, outputs):
    """FlashAttention 2."""
    causal = is_causal(inputs, scalars)
    call = torch.ops.aten._scaled_dot_product_flash_attention
    o, lse = call(*tensors(inputs), 0.0, causal, False, scale=scalars["scale"])[:2]
    return {"o": o, "lse": lse}


def cudnn(inputs, scalars, outputs):
    causal = is_causal(inputs, scalars)
    call = torch.ops.aten._scaled_dot_product_cudnn_attention
    o, lse = call(*tensors(inputs), None, True, 0.0, causal, False, scale=scalars["scale"])[:2]
    if lse.dim() == 4:
        lse.squeeze_(-1)  # in place: a view of it would be copied within the timed span
    return {"o": o, "lse": lse}


def efficient(inputs, scalars, outputs):
    """The kernel that came from xFormers."""
    causal = is_causal(inputs, scalars)
    call = torch.ops.aten._scaled_dot_product_efficient_attention
    o, lse = call(*spread(*tensors(inputs)), None, True, 0.0, causal, scale=scalars["scale"])[:2]
    return {"o": o, "lse": lse[..., : o.shape[2]]}


def math(inputs, scalars, outputs):
    """One operation after another, each with its result in memory."""
    q, k, v = spread(*tensors(inputs))
    scores = (q @ k.transpose(-1, -2)).float() * scalars["scale"]
    if scalars["causal"]:
        queries, keys = scores.shape[-2:]
        seen = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
        scores = scores.masked_fill(~seen, float("-inf"))
    lse = torch.logsumexp(scores, -1)
    # A row that sees no key is relative to nothing.
    base = lse.masked_fill(lse == float("-inf"), 0.0)
    return {"o": (scores - base[..., None]).exp().to(q.dtype) @ v, "lse": lse}


def tensors(inputs):
    return inputs["q"], inputs["k"], inputs["v"]


def spread(q, k, v):
    """One head of k and v for each of q."""
    shared = q.shape[1] // k.shape[1]
    return (q, k, v) if shared == 1 else (q, k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1))


def is_causal(inputs, scalars):
    causal, queries, keys = bool(scalars["causal"]), inputs["q"].shape[2], inputs["k"].shape[2]
    if causal and queries != keys:
        raise ValueError(f"a causal mask for {queries} queries and {keys} keys is aligned otherwise here")
    return causal
