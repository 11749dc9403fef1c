"""Layer norm of PyTorch."""

import torch


def torch_layernorm(inputs, scalars, outputs):
    """y = layer norm of every row of x, in memory of its own: there is no other form."""
    x = inputs["x"]
    return torch.nn.functional.layer_norm(x, x.shape[-1:], inputs["weight"], inputs["bias"], scalars["eps"])
