from contextlib import nullcontext


class FakeTensor:
    def __init__(self, shape):
        self.shape = tuple(shape)

    def storage_offset(self):
        return 0

    def element_size(self):
        return 4

    def item(self):
        raise RuntimeError("it has no elements")


def FakeTensorMode(allow_non_fake_inputs):
    return nullcontext()


def init_gpu_context(device):
    raise RuntimeError("there is no GPU")
