/* y = 1 + x / 2 + x^2 / 3 + x^3 / 4 + x^4 / 5. A constant without f makes the expression double: half as many elements in a vector, and
 * conversions both ways. */
#include <stdint.h>
#if CONSTANTS_float
#define F(c) c##f
#else
#define F(c) c
#endif

void float_constants(const float *restrict x, float *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = F(1.0) + x[i] * (F(0.5) + x[i] * (F(0.333333333) + x[i] * (F(0.25) + x[i] * F(0.2))));
}
