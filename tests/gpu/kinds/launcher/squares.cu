// y = (2 x + shift)^2 in two kernels, launched from here.
#include <cstdint>
#include <cuda_runtime.h>

// Without a tuner.
#ifndef THREADS
#define THREADS 256
#define TEMPORARY_kept 1
#define CASE_right 1
#endif

__global__ void shifted(const float *x, float *between, float shift, int64_t n) {
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) between[i] = 2 * x[i] + shift;
}

__global__ void squared(const float *between, float *y, int64_t n) {
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = between[i] * between[i];
}

// Right, but none of the kernels that the file names.
__global__ void together(const float *x, float *y, float shift, int64_t n) {
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = (2 * x[i] + shift) * (2 * x[i] + shift);
}

// Memory for what lies between the kernels.
static cudaError_t take(float **memory, size_t bytes, cudaStream_t stream) {
#if TEMPORARY_pool
    return cudaMallocAsync((void **)memory, bytes, stream);
#elif TEMPORARY_each
    return cudaMalloc((void **)memory, bytes);
#else
    static float *kept;
    static size_t size;
    if (size < bytes) {
        cudaFree(kept);
        kept = nullptr;
        size = 0;
        const cudaError_t code = cudaMalloc((void **)&kept, bytes);
        if (code != cudaSuccess) return code;
        size = bytes;
    }
    *memory = kept;
    return cudaSuccess;
#endif
}

static cudaError_t give_back(float *memory, cudaStream_t stream) {
#if TEMPORARY_pool
    return cudaFreeAsync(memory, stream);
#elif TEMPORARY_each
    return cudaFree(memory);
#else
    return cudaSuccess;
#endif
}

extern "C" int squares(const float *x, float *y, float shift, int64_t n, cudaStream_t stream) {
#if CASE_fails
    return 77;
#endif
    float *between = nullptr;
    cudaError_t code = take(&between, n * sizeof(float), stream);
    if (code != cudaSuccess) return (int)code;
    const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
#if CASE_one_kernel
    together<<<blocks, THREADS, 0, stream>>>(x, y, shift, n);
    return (int)cudaGetLastError();
#endif
    shifted<<<blocks, THREADS, 0, stream>>>(x, between, shift, n);
#if !CASE_forgets
    squared<<<blocks, THREADS, 0, stream>>>(between, y, n);
#endif
    code = cudaGetLastError();
    const cudaError_t freed = give_back(between, stream);
    return (int)(code != cudaSuccess ? code : freed);
}
