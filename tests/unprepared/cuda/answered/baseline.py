import torch


def torch_normalize(inputs, scalars, outputs):
    x = inputs["x"]
    torch.div(x, torch.linalg.vector_norm(x, dim=1, keepdim=True), out=outputs["y"])
