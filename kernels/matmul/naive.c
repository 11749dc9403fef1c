/* The textbook's three loops, in the order that walks along rows: the compiler vectorises the innermost one. */
#include <stdint.h>

void naive(const float *a, const float *b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0.0f;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}
