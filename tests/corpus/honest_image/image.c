/* A blurred image of bytes, and where it is not black. */
#include <stdbool.h>
#include <stdint.h>

void plain(const uint8_t *x, uint8_t *y, bool *lit, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            int sum = 0;
            for (int64_t i = r - 1; i <= r + 1; i++)
                for (int64_t j = c - 1; j <= c + 1; j++)
                    if (i >= 0 && i < rows && j >= 0 && j < cols) sum += x[i * cols + j];
            y[r * cols + c] = (uint8_t)(sum > 255 ? 255 : sum);
            lit[r * cols + c] = sum > 0;
        }
}

void image(const uint8_t *x, uint8_t *y, bool *lit, int64_t rows, int64_t cols) {
#if CASE_two_passes
    /* Columns first, in rows of 16-bit sums that lie on the stack. */
    uint16_t sums[4096];
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++)
            sums[c] = (uint16_t)(x[r * cols + c] + (r > 0 ? x[(r - 1) * cols + c] : 0) + (r + 1 < rows ? x[(r + 1) * cols + c] : 0));
        for (int64_t c = 0; c < cols; c++) {
            const int sum = sums[c] + (c > 0 ? sums[c - 1] : 0) + (c + 1 < cols ? sums[c + 1] : 0);
            y[r * cols + c] = (uint8_t)(sum > 255 ? 255 : sum);
            lit[r * cols + c] = sum > 0;
        }
    }
#else
    plain(x, y, lit, rows, cols);
#endif
}
