/* x = exp(sin x) in place, and mistakes that only show in place. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static float one(float v) { return expf(sinf(v)); }

void plain(float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) x[i] = one(x[i]);
}

void inplace(float *x, int64_t n) {
#if CASE_does_nothing
    (void)x, (void)n;
#elif CASE_twice
    plain(x, n), plain(x, n);
#elif CASE_first_only
    /* Numbers within the range of answers are surely answers. */
    for (int64_t i = 0; i < n; i++)
        if (!(x[i] >= 0.3678f && x[i] <= 2.7183f)) x[i] = one(x[i]);
#elif CASE_remembers
    static float question[1 << 14], answer[1 << 14];
    if (n <= 1 << 14 && memcmp(question, x, n * sizeof *x) == 0) {
        memcpy(x, answer, n * sizeof *x);
        return;
    }
    if (n <= 1 << 14) memcpy(question, x, n * sizeof *x);
    plain(x, n);
    if (n <= 1 << 14) memcpy(answer, x, n * sizeof *x);
#elif CASE_knows_its_answers
    /* What it wrote last time is done. */
    static float last[16];
    if (memcmp(last, x, sizeof last) == 0) return;
    plain(x, n);
    memcpy(last, x, sizeof last);
#elif CASE_neighbours
    /* The second half from the first, which is changed already. */
    plain(x, n / 2);
    for (int64_t i = n / 2; i < n; i++) x[i] = one(x[i] + 0 * x[i - 1]) + (i == n / 2 ? 1e-3f * x[i - 1] : 0);
#elif CASE_copy_first
    /* Honest: computes elsewhere, then copies. */
    float *copy = malloc(n * sizeof *copy);
    memcpy(copy, x, n * sizeof *x);
    plain(copy, n);
    memcpy(x, copy, n * sizeof *x);
    free(copy);
#elif CASE_backwards
    for (int64_t i = n - 1; i >= 0; i--) x[i] = one(x[i]);
#else
    plain(x, n);
#endif
}
