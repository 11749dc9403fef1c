// The transform by halves, with memory of its own, and step by step in the outputs. CASE says which.
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static float complex turn(int64_t i, int64_t n) { return cexpf(-2 * (float)M_PI * I * i / n); }

#if CASE_in_place
void fft(const float *x, float *re, float *im, int64_t n) {
    for (int64_t i = 0, j = 0; i < n; i++) {
        re[j] = x[i], im[j] = 0;
        // The number with its bits in the other order.
        int64_t bit = n >> 1;
        for (; bit && (j & bit); bit >>= 1) j ^= bit;
        j ^= bit;
    }
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t k = 0; k < half; k++) {
            const float complex w = turn(k, 2 * half);
            for (int64_t i = k; i < n; i += 2 * half) {
                const float complex odd = w * (re[i + half] + I * im[i + half]);
                re[i + half] = re[i] - crealf(odd), im[i + half] = im[i] - cimagf(odd);
                re[i] += crealf(odd), im[i] += cimagf(odd);
            }
        }
}
#else
static void halves(float complex *a, float complex *other, int64_t n) {
    if (n == 1) return;
    const int64_t half = n / 2;
    for (int64_t i = 0; i < half; i++) other[i] = a[2 * i], other[half + i] = a[2 * i + 1];
    for (int64_t i = 0; i < n; i++) a[i] = other[i];
    halves(a, other, half), halves(a + half, other, half);
    for (int64_t i = 0; i < half; i++) {
        const float complex odd = turn(i, n) * a[half + i];
        other[i] = a[i] + odd, other[half + i] = a[i] - odd;
    }
    for (int64_t i = 0; i < n; i++) a[i] = other[i];
}

void fft(const float *x, float *re, float *im, int64_t n) {
    float complex *a = malloc(2 * n * sizeof *a);
    for (int64_t i = 0; i < n; i++) a[i] = x[i];
    halves(a, a + n, n);
    for (int64_t i = 0; i < n; i++) re[i] = crealf(a[i]), im[i] = cimagf(a[i]);
    free(a);
}
#endif
