/* y = x * b + s, where elements of the inputs share places: x has windows of one row that slide by one, b one row for all,
 * s one number for all. */
#include <stdint.h>

void plain(const float *x, const float *b, const float *s, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = x[r + c] * b[c] + s[0];
}

void shared(const float *x, const float *b, const float *s, float *y, int64_t rows, int64_t cols) {
#if CASE_column_first
    for (int64_t c = 0; c < cols; c++)
        for (int64_t r = 0; r < rows; r++) y[r * cols + c] = x[r + c] * b[c] + s[0];
#elif CASE_wrong_window
    plain(x, b, s, y, rows, cols);
    for (int64_t c = 0; c < cols; c++) y[c] = x[c + 1] * b[c] + s[0];
#else
    plain(x, b, s, y, rows, cols);
#endif
}
