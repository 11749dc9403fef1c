import numpy

# The next size with small factors only, for which the transform takes less than half of the time.
SIZE = (4116, 4116)


def convolution(inputs, scalars, outputs):
    image, weights = inputs["input"], inputs["d_filter"]
    # A correlation through Fourier space; what wraps around lies beyond the output.
    spectrum = numpy.fft.rfft2(image, SIZE) * numpy.conj(numpy.fft.rfft2(weights, SIZE))
    outputs["output"][...] = numpy.fft.irfft2(spectrum, SIZE)[:4096, :4096]
