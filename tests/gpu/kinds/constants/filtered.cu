// y[i] = factor * sum of weights[k] * x[i + k], with weights and factor in constant memory.

namespace filter {
__constant__ float weights[TAPS];
}
__constant__ float factor;
__constant__ float unread[16];

extern "C" __global__ void filtered(const float *x, float *y, int n) {
    for (int item = 0; item < ITEMS; ++item) {
        int i = blockIdx.x * STEP + item * THREADS + threadIdx.x;
        if (i >= n) return;
        float sum = 0;
#pragma unroll
        for (int k = 0; k < TAPS; ++k) {
#ifdef CASE_own_weights
            sum += 1.0f / (1 + k) * x[i + k];
#else
            sum += filter::weights[k] * x[i + k];
#endif
        }
#ifndef CASE_no_factor
        sum *= factor;
#endif
        y[i] = sum;
    }
}
