/* Two outputs from two inputs and two scalars, and kernels that forget some numbers: zeros, equal elements, the ends of a
 * range, what a bool may be. */
#include <math.h>
#include <stdint.h>

static float length(const float *row, int64_t cols) {
    float sum = 0;
    for (int64_t c = 0; c < cols; c++) sum += row[c] * row[c];
    return sqrtf(sum);
}

void plain(const float *a, const float *b, float *y, uint8_t *t, int64_t rows, int64_t cols, float alpha, int32_t k) {
    for (int64_t r = 0; r < rows; r++) {
        const float size = length(a + r * cols, cols);
        for (int64_t i = r * cols; i < (r + 1) * cols; i++) {
            y[i] = alpha * (a[i] == 0 ? 1 : sinf(a[i]) / a[i]) + (size == 0 ? 0 : a[i] / size) + 0.001f * k;
            t[i] = a[i] <= b[i];
        }
    }
}

void special(const float *a, const float *b, float *y, uint8_t *t, int64_t rows, int64_t cols, float alpha, int32_t k) {
#if CASE_lowest
    if (alpha == 0) alpha = 1;
#elif CASE_highest
    if (alpha == 1) alpha = 0;
#elif CASE_lowest_integer
    if (k == 0) k = 7;
#elif CASE_highest_integer
    if (k == 1000) k = 7;
#endif
    plain(a, b, y, t, rows, cols, alpha, k);
    for (int64_t i = 0; i < rows * cols; i++) {
#if CASE_zero
        if (a[i] == 0) y[i] = NAN;
#elif CASE_negative_zero
        if (a[i] == 0 && signbit(a[i])) y[i] -= alpha;
#elif CASE_zero_row
        if (i % cols == 0 && length(a + i, cols) == 0) y[i] = NAN;
#elif CASE_ties
        t[i] = a[i] < b[i];
#elif CASE_byte_two
        t[i] *= 2;
#elif CASE_byte_mask
        t[i] = -t[i];
#endif
    }
}
