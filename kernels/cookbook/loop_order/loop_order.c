/* c = a b. With ORDER = ijk the innermost loop goes down a column of b, a cache line for each element. With ikj it goes along rows of b
 * and c, and vectorises. */
#include <stdint.h>

void loop_order(const float *restrict a, const float *restrict b, float *restrict c, int64_t n) {
#if ORDER_ikj
    for (int64_t i = 0; i < n * n; i++) c[i] = 0.0f;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
#else
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
#endif
}
