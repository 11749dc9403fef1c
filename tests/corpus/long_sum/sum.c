// A sum in eight parts. CASE says what is forgotten; see expected.toml.
#include <stdint.h>

static float row(const float *x, int64_t n) {
    float parts[8] = {0};
    int64_t i = 0;
#if CASE_head
    i = 8;
#endif
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) parts[k] += x[i + k];
    float all = 0;
    for (int k = 0; k < 8; k++) all += parts[k];
#if !CASE_tail
    for (; i < n; i++) all += x[i];
#endif
    return all;
}

void sum(const float *x, float *y, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; r++) y[r] = row(x + r * n, n);
}
