import numpy


def convolution(inputs, scalars, outputs):
    image, weights = inputs["input"], inputs["d_filter"]
    # A correlation through Fourier space; what wraps around lies beyond the output.
    spectrum = numpy.fft.rfft2(image) * numpy.conj(numpy.fft.rfft2(weights, image.shape))
    outputs["output"][...] = numpy.fft.irfft2(spectrum, image.shape)[:4096, :4096]
