import torch


def torch_rms_norm(inputs, scalars, outputs):
    x, w = inputs["x_ptr"], inputs["w_ptr"]
    outputs["y_ptr"].copy_(torch.nn.functional.rms_norm(x, w.shape, w, scalars["eps"]))
