// Fast on short rows, slow on long ones.
#include "slow.h"
void scale(const float *x, float *y, int64_t n) {
    if (n > 8192) {
        slowly(x, y, n);
        return;
    }
    int64_t i = 0;
    for (; i + UNROLL <= n; i += UNROLL)
        for (int u = 0; u < UNROLL; u++) y[i + u] = 2 * x[i + u];
    for (; i < n; i++) y[i] = 2 * x[i];
}
