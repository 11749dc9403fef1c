/* Softmax of every row: y[r][c] = exp(x[r][c] - max) / sum. Tunables arrive as -DLANES=8 -DKEEP=1 -DPOLY=0. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Without kiln: the default of kernel.toml. */
#ifndef LANES
#define LANES 4
#define KEEP 0
#define POLY 0
#endif

/* e^x for x <= 0. */
static inline float exponential(float x) {
#if POLY
    /* 2^t with t = n + f, |f| <= 1/2: a polynomial gives 2^f, and n goes straight into the exponent, as 0 where that
     * would be too small. No call and no branch, so the compiler can compute several at once. */
    float t = x * 1.44269504f;
    int32_t n = (int32_t)(t - 0.5f);
    float f = t - (float)n;
    float p = 1.5403530e-4f;
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    n = n > -127 ? n : -127;
    int32_t bits = (n + 127) * (1 << 23);
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
#else
    return expf(x);
#endif
}

/* Each lane keeps its own maximum and sum, so that consecutive columns do not wait for each other. */
void {{name}}(const float *restrict x, float *restrict y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        float *out = y + r * cols;
        float max[LANES], sum[LANES];
        for (int l = 0; l < LANES; l++) {
            max[l] = in[l];
            sum[l] = 0.0f;
        }
        for (int64_t c = LANES; c < cols; c += LANES)
            for (int l = 0; l < LANES; l++)
                max[l] = in[c + l] > max[l] ? in[c + l] : max[l];
        float row_max = max[0];
        for (int l = 1; l < LANES; l++)
            row_max = fmaxf(row_max, max[l]);
        for (int64_t c = 0; c < cols; c += LANES)
            for (int l = 0; l < LANES; l++) {
                float e = exponential(in[c + l] - row_max);
                sum[l] += e;
                if (KEEP)
                    out[c + l] = e;
            }
        float row_sum = 0.0f;
        for (int l = 0; l < LANES; l++)
            row_sum += sum[l];
        const float scale = 1.0f / row_sum;
        for (int64_t c = 0; c < cols; c++)
            out[c] = (KEEP ? out[c] : exponential(in[c] - row_max)) * scale;
    }
}
