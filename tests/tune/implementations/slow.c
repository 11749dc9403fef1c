// A hundred times the work, which no compiler may leave out.
#include <stdint.h>
void scale(const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        volatile float t = 0;
        for (int k = 0; k < 100; k++) t = 2 * x[i];
        y[i] = t;
    }
}
