// Sums of rows, two blocks each, and mistakes. CASE says which; see expected.toml.
#include <cuda_fp16.h>

__device__ unsigned arrived[4096];

__device__ float tree(float *space, float mine) {
    space[threadIdx.x] = mine;
#if CASE_no_barrier
    // All warps are in step, are they not?
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) *(volatile float *)&space[threadIdx.x] += *(volatile float *)&space[threadIdx.x + step];
    }
#else
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) space[threadIdx.x] += space[threadIdx.x + step];
        __syncthreads();
    }
#endif
    return space[0];
}

extern "C" __global__ void sum(const float *x, float *y, float *partial, int r, int c) {
    __shared__ float space[256];
    __shared__ bool last;
#if CASE_one_warp_late
    const int split = c * 7 / 8;
#elif CASE_unset_slots
    const int split = min(c, 256);
#else
    const int split = (c + 1) / 2;
#endif
    const int row = blockIdx.x, first = blockIdx.y ? split : 0, end = blockIdx.y ? c : split;
    float mine = 0;
#if CASE_short_index
    for (int k = first + threadIdx.x; k < end; k += 256) mine += x[(row * c & 0xffff) + k];
#elif CASE_cutoff
    for (int k = first + threadIdx.x; k < end; k += 256) {
        const float v = x[(long long)row * c + k];
        if (fabsf(v) >= 1e-3f) mine += v;
    }
#else
    for (int k = first + threadIdx.x; k < end; k += 256) mine += x[(long long)row * c + k];
#endif
#if CASE_half_partials
    mine = __half2float(__float2half(mine));
#endif
#if CASE_unset_slots
    if (first + threadIdx.x < end) space[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) space[threadIdx.x] += space[threadIdx.x + step];
        __syncthreads();
    }
    const float total = space[0];
#else
    const float total = tree(space, mine);
#endif
#if CASE_never_cleared
    if (threadIdx.x == 0) atomicAdd(&y[row], total);
    return;
#endif
#if CASE_one_warp_late
    if (threadIdx.x == 0) {
        partial[row * 2 + blockIdx.y] = total;
        __threadfence();
        // The first block has surely been here.
        if (blockIdx.y == 1) y[row] = *(volatile float *)&partial[row * 2] + total;
    }
    return;
#endif
    if (threadIdx.x == 0) {
        partial[row * 2 + blockIdx.y] = total;
        __threadfence();
#if CASE_counter_kept
        last = atomicAdd(&arrived[row], 1) == 1;
#else
        last = atomicInc(&arrived[row], 1) == 1;
#endif
        if (last) {
            __threadfence();
            y[row] = *(volatile float *)&partial[row * 2] + *(volatile float *)&partial[row * 2 + 1];
        }
    }
}
