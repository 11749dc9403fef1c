/* Softmax of every row: y[r][c] = exp(x[r][c] - max) / sum. Tunables arrive as -DLANES=8 -DFUSED=1. */
#include <math.h>
#include <stdint.h>

#ifndef LANES
#define LANES 4
#endif
#ifndef FUSED
#define FUSED 0
#endif

/* Each lane keeps its own maximum and sum, so that consecutive columns do not wait for each other. */
void {{name}}(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        float *out = y + r * cols;
        float max[LANES], sum[LANES];
        for (int l = 0; l < LANES; l++) {
            max[l] = -INFINITY;
            sum[l] = 0.0f;
        }
#if FUSED
        /* A new maximum rescales the sum so far. */
        for (int64_t c = 0; c < cols; c += LANES)
            for (int l = 0; l < LANES; l++) {
                float v = in[c + l], m = fmaxf(max[l], v);
                sum[l] = sum[l] * expf(max[l] - m) + expf(v - m);
                max[l] = m;
            }
#else
        for (int64_t c = 0; c < cols; c += LANES)
            for (int l = 0; l < LANES; l++)
                max[l] = fmaxf(max[l], in[c + l]);
#endif
        float row_max = max[0];
        for (int l = 1; l < LANES; l++)
            row_max = fmaxf(row_max, max[l]);
        float row_sum = 0.0f;
#if FUSED
        for (int l = 0; l < LANES; l++)
            row_sum += sum[l] * expf(max[l] - row_max);
#else
        for (int64_t c = 0; c < cols; c += LANES)
            for (int l = 0; l < LANES; l++)
                sum[l] += expf(in[c + l] - row_max);
        for (int l = 0; l < LANES; l++)
            row_sum += sum[l];
#endif
        const float scale = 1.0f / row_sum;
        for (int64_t c = 0; c < cols; c++)
            out[c] = expf(in[c] - row_max) * scale;
    }
}
