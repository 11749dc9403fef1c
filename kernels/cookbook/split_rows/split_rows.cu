/* Sums of ROWS rows. SPLIT blocks share a row and leave a sum each; `combine` adds those up. A thread has LOADS loads in flight. */
#ifndef SPLIT
#define SPLIT 1
#define LOADS 1
#endif

static __device__ float of_warp(float v) {
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    return v;
}

extern "C" __global__ void __launch_bounds__(256)
split_rows(const float *__restrict__ x, float *__restrict__ y, float *__restrict__ part, int cols) {
    __shared__ float s[8];
    const int length = (cols + SPLIT - 1) / SPLIT, from = blockIdx.x * length, to = min(cols, from + length);
    const float *row = x + blockIdx.y * cols;
    float sum[LOADS] = {};
#pragma unroll 1
    for (int c = from + threadIdx.x; c < to; c += 256 * LOADS) {
#pragma unroll
        for (int k = 0; k < LOADS; k++) sum[k] += c + 256 * k < to ? row[c + 256 * k] : 0.0f;
    }
#pragma unroll
    for (int k = 1; k < LOADS; k++) sum[0] += sum[k];
    const float own = of_warp(sum[0]);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        const float all = of_warp(threadIdx.x < 8 ? s[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) part[blockIdx.y * SPLIT + blockIdx.x] = all;
    }
}

extern "C" __global__ void combine(const float *__restrict__ x, float *__restrict__ y, float *__restrict__ part, int cols) {
    float sum = 0.0f;
    for (int k = threadIdx.x; k < SPLIT; k += 32) sum += part[blockIdx.x * SPLIT + k];
    sum = of_warp(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
