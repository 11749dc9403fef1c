// The same a hundred times, which no compiler may leave out.
#include <stdint.h>
static inline void slowly(const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        volatile float t = 0;
        for (int k = 0; k < 100; k++) t = 2 * x[i];
        y[i] = t;
    }
}
