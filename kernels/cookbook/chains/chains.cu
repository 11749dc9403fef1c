/* The ends of four lists, 32 nodes long, for each item. A thread follows STEP of them in step, so that as many loads are in flight. With
 * THREADS = 4 each list has a thread of its own. */
#ifndef STEP
#define STEP 1
#define THREADS 1
#endif
#define LISTS (4 / THREADS)

extern "C" __global__ void __launch_bounds__(128) chains(const int *__restrict__ next, int *__restrict__ y, int n, int nodes) {
    const int t = blockIdx.x * 128 + threadIdx.x, i = t / THREADS;
    int sum = 0;
#pragma unroll 1
    for (int l = 0; l < LISTS; l += STEP) {
        unsigned at[STEP];
#pragma unroll
        for (int k = 0; k < STEP; k++) at[k] = (i * 4 + t % THREADS + l + k) * 2654435761u & (nodes - 1);
        if (i < n) {
#pragma unroll 1
            for (int s = 0; s < 32; s++) {
#pragma unroll
                for (int k = 0; k < STEP; k++) at[k] = next[at[k]];
            }
        }
#pragma unroll
        for (int k = 0; k < STEP; k++) sum += at[k] & 4095;
    }
#pragma unroll
    for (int o = THREADS / 2; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (i < n && t % THREADS == 0) y[i] = sum;
}
