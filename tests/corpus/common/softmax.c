/* The honest softmax of every row: the baseline, and what the cases call when they work at all. */
#include <math.h>
#include <stdint.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        float *out = y + r * cols;
        float largest = in[0], sum = 0;
        for (int64_t c = 1; c < cols; c++) largest = in[c] > largest ? in[c] : largest;
        for (int64_t c = 0; c < cols; c++) sum += out[c] = expf(in[c] - largest);
        for (int64_t c = 0; c < cols; c++) out[c] /= sum;
    }
}
