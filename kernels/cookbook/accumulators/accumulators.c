/* y[r] = the dot product of row r with w. The order of one sum (SUMS = 1) is fixed, so each addition waits for the last. With 16 sums the
 * loop vectorises. */
#include <stdint.h>
#ifndef SUMS
#define SUMS 1
#endif

void accumulators(const float *restrict x, const float *restrict w, float *restrict y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++, x += cols) {
        float sum[SUMS] = {0.0f};
        int64_t c = 0;
        for (; c + SUMS <= cols; c += SUMS)
            for (int k = 0; k < SUMS; k++) sum[k] += x[c + k] * w[c + k];
        for (; c < cols; c++) sum[0] += x[c] * w[c];
        float all = 0.0f;
        for (int k = 0; k < SUMS; k++) all += sum[k];
        y[r] = all;
    }
}
