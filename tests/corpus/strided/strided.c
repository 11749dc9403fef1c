/* y = 2 x + 1 where rows of y are PITCH numbers apart, and ways to get that wrong. */
#include <stdint.h>

#define PITCH 144

void plain(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) y[r * PITCH + c] = 2 * x[r * cols + c] + 1;
}

void strided(const float *x, float *y, int64_t rows, int64_t cols) {
#if CASE_pads
    plain(x, y, rows, cols);
    for (int64_t r = 0; r + 1 < rows; r++)
        for (int64_t c = cols; c < PITCH; c++) y[r * PITCH + c] = 0;
#elif CASE_pads_one
    /* One number between two rows in the middle. */
    plain(x, y, rows, cols);
    y[rows / 2 * PITCH + cols] = 0;
#elif CASE_pads_last
    plain(x, y, rows, cols);
    y[(rows - 1) * PITCH + cols] = 0;
#elif CASE_packed
    for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;
#elif CASE_remembers_in_padding
    /* Between the rows there is room for a note. */
    if (y[cols] == x[0] && y[PITCH + cols] == x[cols] && y[0] == 2 * x[0] + 1) return;
    plain(x, y, rows, cols);
    y[cols] = x[0], y[PITCH + cols] = x[cols];
#elif CASE_column_first
    /* Honest, in another order. */
    for (int64_t c = 0; c < cols; c++)
        for (int64_t r = 0; r < rows; r++) y[r * PITCH + c] = 2 * x[r * cols + c] + 1;
#else
    plain(x, y, rows, cols);
#endif
}
