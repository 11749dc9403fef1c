/* y = c0 + c1 x + ... + c128 x^128 with ck = 1 / (k + 1). `powers` takes two operations for each term, `horner` one. A thread computes
 * EACH elements side by side. */
#ifndef EACH
#define EACH 1
#define FORM_powers 1
#endif

extern "C" __global__ void __launch_bounds__(256) horner(const float *__restrict__ x, float *__restrict__ y, int n) {
    float v[EACH], sum[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = (blockIdx.x * EACH + k) * 256 + threadIdx.x;
        v[k] = i < n ? x[i] : 0.0f;
    }
#if FORM_powers
    float power[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) sum[k] = 1.0f, power[k] = 1.0f;
#pragma unroll
    for (int d = 1; d <= 128; d++) {
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            power[k] *= v[k];
            sum[k] += power[k] * (1.0f / (d + 1));
        }
    }
#else
#pragma unroll
    for (int k = 0; k < EACH; k++) sum[k] = 1.0f / 129;
#pragma unroll
    for (int d = 127; d >= 0; d--) {
#pragma unroll
        for (int k = 0; k < EACH; k++) sum[k] = sum[k] * v[k] + 1.0f / (d + 1);
    }
#endif
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = (blockIdx.x * EACH + k) * 256 + threadIdx.x;
        if (i < n) y[i] = sum[k];
    }
}
