/* 32 steps of v = 0.99 v + 0.005 (1 - v). A literal without f makes the expression double: two conversions and three double
 * operations for each step. A thread computes EACH elements side by side. */
#ifndef EACH
#define EACH 1
#define LITERALS_double 1
#endif
#if LITERALS_double
#define STEP(v) (v * 0.99 + 0.005 * (1.0 - v))
#else
#define STEP(v) (v * 0.99f + 0.005f * (1.0f - v))
#endif

extern "C" __global__ void __launch_bounds__(256) float_literals(const float *__restrict__ x, float *__restrict__ y, int n) {
    float v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = (blockIdx.x * EACH + k) * 256 + threadIdx.x;
        v[k] = i < n ? x[i] : 0.0f;
    }
    for (int s = 0; s < 32; s++) {
#pragma unroll
        for (int k = 0; k < EACH; k++) v[k] = STEP(v[k]);
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = (blockIdx.x * EACH + k) * 256 + threadIdx.x;
        if (i < n) y[i] = v[k];
    }
}
