/* Half a million numbers, slowly: a call takes some 50 ms. */
#include <math.h>
#include <stdint.h>

void plain(const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double v = x[i];
        for (int step = 0; step < 30; step++) v = 0.5 * v + 0.5 * x[i];
        y[i] = (float)(v + 1);
    }
}

void lengthy(const float *x, float *y, int64_t n) {
#if CASE_backwards
    for (int64_t i = n - 1; i >= 0; i--) plain(x + i, y + i, 1);
#else
    plain(x, y, n);
#endif
}
