/* Running products through memory to work in, 16 MB of it; rows may be none. */
#include <stdint.h>
#include <string.h>

#define WORK (4 << 20)

void plain(const float *x, float *y, float *work, int64_t n) {
    (void)work;
    for (int64_t i = 0; i < n; i++) y[i] = 3 * x[i] - 1;
}

void scratch(const float *x, float *y, float *work, int64_t n) {
#if CASE_whole
    /* Writes all of its memory in every call. */
    memset(work, 0, WORK * sizeof *work);
    for (int64_t i = 0; i < n; i++) work[(i * 4099) % WORK] = 3 * x[i];
    for (int64_t i = 0; i < n; i++) y[i] = work[(i * 4099) % WORK] - 1;
#elif CASE_scattered
    /* A number on each page. */
    for (int64_t i = 0; i < n; i++) work[(i * 1031) % WORK] = 3 * x[i] - 1;
    for (int64_t i = 0; i < n; i++) y[i] = work[(i * 1031) % WORK];
#elif CASE_nothing_to_do
    if (n == 0) return;
    plain(x, y, work, n);
#else
    plain(x, y, work, n);
#endif
}
