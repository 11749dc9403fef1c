/* Sixteen times: half the mean of a row of 1,024 is subtracted from each of its elements. A tree over shared memory has a barrier for
 * each level, shuffles have one for the whole sum. With fewer threads in a block, each has several elements. */
#ifndef BLOCK
#define SUM_tree 1
#define BLOCK 1024
#endif
#define OWN (1024 / BLOCK)

extern "C" __global__ void __launch_bounds__(BLOCK) fewer_barriers(const float *__restrict__ x, float *__restrict__ y) {
    __shared__ float s[BLOCK];
    const int t = threadIdx.x, base = blockIdx.x * 1024 + t;
    float v[OWN];
#pragma unroll
    for (int k = 0; k < OWN; k++) v[k] = x[base + k * BLOCK];
#pragma unroll 1
    for (int round = 0; round < 16; round++) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < OWN; k++) sum += v[k];
#if SUM_tree
        s[t] = sum;
        __syncthreads();
        for (int o = BLOCK / 2; o; o /= 2) {
            if (t < o) s[t] += s[t + o];
            __syncthreads();
        }
        sum = s[0];
        __syncthreads();
#else
        // Two buffers take turns: the next round does not write where this one is read.
        const int at = round % 2 * 32;
        for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
        if (t % 32 == 0) s[at + t / 32] = sum;
        __syncthreads();
        sum = t % 32 < BLOCK / 32 ? s[at + t % 32] : 0.0f;
        for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
#endif
#pragma unroll
        for (int k = 0; k < OWN; k++) v[k] -= sum * (0.5f / 1024);
    }
#pragma unroll
    for (int k = 0; k < OWN; k++) y[base + k * BLOCK] = v[k];
}
