/* Softmax of one row: the largest element, the sum of the exponentials, the quotients, each by the whole grid. */

/* Without a tuner. */
#ifndef THREADS
#define THREADS 128
#define BARRIER_counter 1
#define CASE_right 1
#endif

#if BARRIER_groups
#include <cooperative_groups.h>
#endif

/* Waits for every block of the grid; `times` says for the how many-th time. */
__device__ void meet(unsigned *counter, unsigned times) {
#if BARRIER_groups
    cooperative_groups::this_grid().sync();
#else
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1);
        unsigned arrived = 0;
        while (arrived < times * gridDim.x)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(counter) : "memory");
        __threadfence();
    }
    __syncthreads();
#endif
}

/* One number from those of all threads, always in the same order. */
template <typename Join> __device__ float joined(float *parts, float own, Join join) {
    __syncthreads();
    parts[threadIdx.x] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
    }
    __syncthreads();
    return parts[0];
}

extern "C" __global__ void softmax(const float *x, float *y, float *largest, float *sums, unsigned *counter, int n) {
    __shared__ float parts[THREADS];
    const int first = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS;
    const auto larger = [](float a, float b) { return fmaxf(a, b); };
    const auto sum = [](float a, float b) { return a + b; };
    const float lowest = -__int_as_float(0x7f800000);

    float most = lowest;
    for (int i = first; i < n; i += step) most = fmaxf(most, x[i]);
    most = joined(parts, most, larger);
    if (threadIdx.x == 0) largest[blockIdx.x] = most;
    meet(counter, 1);

    most = lowest;
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) most = fmaxf(most, __ldcg(largest + i));
    most = joined(parts, most, larger);
    float total = 0;
    for (int i = first; i < n; i += step) total += expf(x[i] - most);
    total = joined(parts, total, sum);
#if CASE_no_second_barrier
    /* One block is late, so that the others find no sum of its. */
    if (blockIdx.x == 0)
        for (long long until = clock64() + 2000000; clock64() < until;) {}
#endif
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
#if !CASE_no_second_barrier
    meet(counter, 2);
#endif

    total = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) total += __ldcg(sums + i);
    total = joined(parts, total, sum);
#if BARRIER_groups
    /* Were it launched like any other kernel, nobody shall take it for right. */
    if (!cooperative_groups::this_grid().is_valid()) total = __int_as_float(0x7fffffff);
#endif
    for (int i = first; i < n; i += step) y[i] = expf(x[i] - most) / total;
}
