/* Softmax of every row, again and again: nothing is remembered from one pass to the next. */
#include <math.h>
#include <stdint.h>

#ifndef SLOWER
#define SLOWER 0
#endif

void passes(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int pass = 0; pass < 20 + SLOWER; pass++) {
        for (int64_t r = 0; r < rows; r++) {
            const float *from = x + r * cols;
            float *to = y + r * cols, most = from[0], sum = 0;
            for (int64_t c = 1; c < cols; c++) most = from[c] > most ? from[c] : most;
            for (int64_t c = 0; c < cols; c++) sum += to[c] = expf(from[c] - most);
            for (int64_t c = 0; c < cols; c++) to[c] /= sum;
        }
        __asm__ volatile("" ::: "memory");
    }
}
