/* Denormal numbers: a product so small that processors take the slow way. */
#include <stdint.h>

void plain(const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * 1e-20f * 1e-20f * 1e15f * 1e15f;
}

void tiny(const float *x, float *y, int64_t n) {
#if CASE_in_double
    for (int64_t i = 0; i < n; i++) {
        volatile float small = (float)((double)x[i] * 1e-40);
        y[i] = small * 1e15f * 1e15f;
    }
#else
    for (int64_t i = 0; i < n; i++) {
        volatile float small = x[i] * 1e-20f * 1e-20f;
        y[i] = small * 1e15f * 1e15f;
    }
#endif
}
