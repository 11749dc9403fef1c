/* y = x transposed. Row by row, each element of y is in another cache line, and each line is fetched again for the next row. In blocks
 * of BLOCK x BLOCK the lines stay in the cache until they are full. */
#include <stdint.h>
#ifndef BLOCK
#define BLOCK 1
#endif

void blocked_transpose(const float *restrict x, float *restrict y, int64_t n) {
#if BLOCK > 1
    for (int64_t top = 0; top < n; top += BLOCK)
        for (int64_t left = 0; left < n; left += BLOCK) {
            const int64_t rows = top + BLOCK < n ? top + BLOCK : n, cols = left + BLOCK < n ? left + BLOCK : n;
            for (int64_t r = top; r < rows; r++)
                for (int64_t c = left; c < cols; c++) y[c * n + r] = x[r * n + c];
        }
#else
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < n; c++) y[c * n + r] = x[r * n + c];
#endif
}
