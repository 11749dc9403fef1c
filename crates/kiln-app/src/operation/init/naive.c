/* The version to beat: softmax of every row in three plain loops. */
#include <math.h>
#include <stdint.h>

void naive(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float max = -INFINITY, sum = 0.0f;
        for (int64_t c = 0; c < cols; c++)
            max = fmaxf(max, x[c]);
        for (int64_t c = 0; c < cols; c++)
            sum += expf(x[c] - max);
        for (int64_t c = 0; c < cols; c++)
            y[c] = expf(x[c] - max) / sum;
    }
}
