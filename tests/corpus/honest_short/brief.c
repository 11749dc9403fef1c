/* Eight numbers: a call takes a few nanoseconds. */
#include <stdint.h>
#include <string.h>

void plain(const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + x[i];
}

void brief(const float *x, float *y, int64_t n) {
#if CASE_copies
    memcpy(y, x, n * sizeof *y);
    for (int64_t i = 0; i < n; i++) y[i] *= 2;
#elif CASE_counts
    /* A counter of calls that changes nothing. */
    static volatile long calls;
    calls++;
    plain(x, y, n);
#else
    plain(x, y, n);
#endif
}
