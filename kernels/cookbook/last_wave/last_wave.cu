/* 512 steps of a recurrence for each element. Blocks have 1,024 threads, of which a multiprocessor holds two; a thread computes PER
 * elements, one after the other. */
#ifndef PER
#define PER 8
#endif

extern "C" __global__ void __launch_bounds__(1024, 2) last_wave(const float *__restrict__ x, float *__restrict__ y, int n) {
#pragma unroll 1
    for (int k = 0; k < PER; k++) {
        const int i = (blockIdx.x * PER + k) * 1024 + threadIdx.x;
        if (i >= n) return;
        float v = x[i];
#pragma unroll 16
        for (int s = 0; s < 512; s++) v = v * 0.99f + 0.01f;
        y[i] = v;
    }
}
