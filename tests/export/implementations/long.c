// Fast on long rows, slow on short ones. Each step goes through `part`.
#include "slow.h"
void scale(const float *x, float *y, float *part, int64_t n) {
    if (n <= 8192) {
        slowly(x, y, n);
        return;
    }
    for (int64_t i = 0; i < n; i += STEP) {
        for (int u = 0; u < STEP; u++) part[u] = 2 * x[i + u];
        for (int u = 0; u < STEP; u++) y[i + u] = part[u];
    }
}
