/* Elements above 1.125 (one in eight) take 256 steps of a recurrence, the others stay as they are. `branch` computes where it meets
 * one, while the warp's other lanes wait. `gather` first lists a block's long elements, then computes them side by side. */
extern "C" __global__ void __launch_bounds__(256) compact(const float *__restrict__ x, float *__restrict__ y, int n) {
    const int base = blockIdx.x * 2048;
#if METHOD_gather
    __shared__ int list[2048], count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        const int i = base + k * 256 + threadIdx.x;
        const float v = i < n ? x[i] : 0.0f;
        const bool lengthy = v > 1.125f;
        if (i < n && !lengthy) y[i] = v;
        const unsigned mask = __ballot_sync(~0u, lengthy);
        int at = 0;
        if (threadIdx.x % 32 == 0 && mask) at = atomicAdd(&count, __popc(mask));
        at = __shfl_sync(~0u, at, 0) + __popc(mask & ((1u << threadIdx.x % 32) - 1));
        if (lengthy) list[at] = i;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += 256) {
        float v = x[list[k]];
        for (int s = 0; s < 256; s++) v = v * 0.99f + 0.005f;
        y[list[k]] = v;
    }
#else
    for (int k = 0; k < 8; k++) {
        const int i = base + k * 256 + threadIdx.x;
        if (i >= n) return;
        float v = x[i];
        if (v > 1.125f) {
            for (int s = 0; s < 256; s++) v = v * 0.99f + 0.005f;
        }
        y[i] = v;
    }
#endif
}
