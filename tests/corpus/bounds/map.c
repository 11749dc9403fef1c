/* y = 2 x + 1, one number after another: the baseline. */
#include <stdint.h>

void map(const float *x, float *y, float *work, int64_t n) {
    (void)work;
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i] + 1;
}
