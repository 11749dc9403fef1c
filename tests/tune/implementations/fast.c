// The compiler vectorises it; UNROLL only changes how many elements a step takes.
#include <stdint.h>
void scale(const float *x, float *y, int64_t n) {
    int64_t i = 0;
    for (; i + UNROLL <= n; i += UNROLL)
        for (int u = 0; u < UNROLL; u++) y[i + u] = 2 * x[i + u];
    for (; i < n; i++) y[i] = 2 * x[i];
}
