/* Numbers by the million, slowly: a call takes some 50 ms. */
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
    plain(x, y, n);
}
