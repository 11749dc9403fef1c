import torch


def product(inputs, scalars, outputs, again=0):
    torch.matmul(inputs["a"], inputs["b"], out=outputs["c"])
