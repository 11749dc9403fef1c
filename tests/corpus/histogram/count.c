/* Counts how many numbers of [0, 1) fall into each of 64 equal parts: the baseline, and the reference. */
#include <stdint.h>

void count(const float *x, int32_t *counts, int64_t n) {
    for (int b = 0; b < 64; b++) counts[b] = 0;
    for (int64_t i = 0; i < n; i++) {
        int b = (int)(x[i] * 64);
        counts[b < 0 ? 0 : b > 63 ? 63 : b]++;
    }
}
