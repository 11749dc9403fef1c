/* How often each of BINS keys occurs. `global`: every key is an atomic in L2. `warp`: lanes with the same key send one. `block`: a copy
 * for each warp in shared memory, added to global memory once. A thread reads KEYS keys at a time. */
#ifndef KEYS
#define KEYS 1
#define COMBINE_none 1
#endif

extern "C" __global__ void clear(const int *__restrict__ key, int *__restrict__ count, int n, int bins) {
    for (int b = threadIdx.x; b < bins; b += 256) count[b] = 0;
}

extern "C" __global__ void __launch_bounds__(256) histogram(const int *__restrict__ key, int *__restrict__ count, int n, int bins) {
    const int stride = gridDim.x * 256 * KEYS, whole = (n + 31) / 32 * 32;
#if COMBINE_block
    extern __shared__ int s[];
    for (int b = threadIdx.x; b < 8 * bins; b += 256) s[b] = 0;
    __syncthreads();
    int *own = s + threadIdx.x / 32 * bins;
#endif
    // All lanes of a warp stay in the loop together.
    for (int from = (blockIdx.x * 256 + threadIdx.x) * KEYS; from < whole; from += stride) {
        int k[KEYS];
#if KEYS == 4
        if (from + 3 < n) {
            const int4 v = *reinterpret_cast<const int4 *>(key + from);
            k[0] = v.x, k[1] = v.y, k[2] = v.z, k[3] = v.w;
        } else
#endif
#pragma unroll
            for (int j = 0; j < KEYS; j++) k[j] = from + j < n ? key[from + j] : -1;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
#if COMBINE_block
            if (k[j] >= 0) atomicAdd(own + k[j], 1);
#elif COMBINE_warp
            const unsigned active = __activemask(), same = __match_any_sync(active, k[j]);
            if (k[j] >= 0 && threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(count + k[j], __popc(same));
#else
            if (k[j] >= 0) atomicAdd(count + k[j], 1);
#endif
        }
    }
#if COMBINE_block
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += 256) {
        int sum = 0;
        for (int w = 0; w < 8; w++) sum += s[w * bins + b];
        if (sum) atomicAdd(count + b, sum);
    }
#endif
}
