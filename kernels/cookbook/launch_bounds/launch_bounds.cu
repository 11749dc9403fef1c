/* 64 running averages of STEPS numbers for each thread, summed at the end. Launch bounds ask for BLOCKS blocks of 256 threads on a
 * multiprocessor: 8 leave each thread 32 registers, and the averages spill. */
#ifndef BLOCKS
#define BLOCKS 8
#endif

extern "C" __global__ void __launch_bounds__(256, BLOCKS) launch_bounds(const float *__restrict__ x, float *__restrict__ y, int n, int steps) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float mean[64];
#pragma unroll
    for (int k = 0; k < 64; k++) mean[k] = 0.01f * k;
#pragma unroll 1
    for (int t = 0; t < steps; t++) {
        const float v = x[t * n + i];
#pragma unroll
        for (int k = 0; k < 64; k++) mean[k] = mean[k] * (0.5f + 0.005f * k) + v;
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 64; k++) sum += mean[k] * (k + 1);
    y[i] = sum;
}
