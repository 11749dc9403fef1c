// The honest loop, launched from here: the baseline.
#include <cstdint>
#include <cuda_runtime.h>

__device__ float slowly(float x) {
    float mean = x;
    for (int step = 0; step < 4000; step++) mean = 0.75f * mean + 0.25f * x;
    return mean + x;
}

__global__ void honest_map(const float *x, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = slowly(x[i]);
}

extern "C" int base(const float *x, float *y, int64_t n, cudaStream_t stream) {
    honest_map<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n);
    return (int)cudaGetLastError();
}
