"""Attention with NumPy's matrix products: what a Python user has without a GPU."""

import numpy as np


def numpy(inputs, scalars, outputs):
    """o = softmax(scale * q k^T) v; the scores of all heads are held at once."""
    q, k, v, o = inputs["q"], inputs["k"], inputs["v"], outputs["o"]
    shared = q.shape[1] // k.shape[1]
    if shared > 1:
        k, v = np.repeat(k, shared, axis=1), np.repeat(v, shared, axis=1)
    p = np.matmul(q * np.float32(scalars["scale"]), k.swapaxes(-1, -2))
    if scalars["causal"]:
        queries, keys = p.shape[-2:]
        unseen = np.arange(keys) > np.arange(queries)[:, None] + (keys - queries)
        p[..., unseen] = -np.inf
    peak = p.max(axis=-1, keepdims=True)
    peak[np.isneginf(peak)] = 0.0  # a row that sees no key
    p -= peak
    np.exp(p, out=p)
    total = p.sum(axis=-1, keepdims=True)
    np.matmul(p, v, out=o)
    with np.errstate(divide="ignore"):
        outputs["lse"][...] = (peak + np.log(total))[..., 0]
    o /= np.where(total > 0.0, total, np.float32(1.0))
