/* The sum of squares in shares: row r takes every ROWS-th number from the r-th on, even ones in one column, odd ones in the other. */
#include <stdint.h>

#if CASE_few
#define ROWS 4
#elif CASE_many
#define ROWS 500
#else
#define ROWS 64
#endif

void plain(const float *x, float *y, int64_t n) {
    for (int64_t r = 0; r < ROWS; r++) {
        float even = 0.0f, odd = 0.0f;
        for (int64_t i = r; i < n; i += 2 * ROWS) even += x[i] * x[i];
        for (int64_t i = r + ROWS; i < n; i += 2 * ROWS) odd += x[i] * x[i];
        y[4 * r + 1] = even;
        y[4 * r + 2] = odd;
    }
}

void shares(const float *x, float *y, int64_t n) {
    plain(x, y, n);
#if CASE_in_one
    float all = 0.0f;
    for (int64_t r = 0; r < ROWS; r++) {
        all += y[4 * r + 1] + y[4 * r + 2];
        y[4 * r + 1] = y[4 * r + 2] = 0.0f;
    }
    y[4 * 7 + 2] = all;
#elif CASE_drops_a_share
    y[4 * 9 + 1] = 0.0f;
#elif CASE_twice
    y[4 * 9 + 1] = y[4 * 8 + 1];
#elif CASE_beside
    y[4 * 9 + 3] = 0.0f;
#elif CASE_leaves_one
    y[4 * 9 + 1] = __builtin_nanf("");
#endif
}
