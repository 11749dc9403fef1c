/* c = a b, and products that are not quite. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void plain(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
        float *row = c + i * n;
        for (int64_t j = 0; j < n; j++) row[j] = 0;
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++) row[j] += a[i * k + l] * b[l * n + j];
    }
}

#if CASE_strassen
/* One level of Strassen: seven products of half the size. Honest, with somewhat more rounding. */
static void add(const float *x, const float *y, float sign, float *to, int64_t h, int64_t px, int64_t py) {
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < h; j++) to[i * h + j] = x[i * px + j] + sign * y[i * py + j];
}

static void strassen(const float *a, const float *b, float *c, int64_t n) {
    const int64_t h = n / 2, q = h * h;
    const float *a11 = a, *a12 = a + h, *a21 = a + h * n, *a22 = a21 + h;
    const float *b11 = b, *b12 = b + h, *b21 = b + h * n, *b22 = b21 + h;
    float *all = calloc(10 * q, sizeof *all), *s = all, *t = all + q, *zero = all + 9 * q;
    const struct { const float *p, *q; float f; const float *r, *s; float g; } terms[7] = {
        {a11, a22, 1, b11, b22, 1},  {a21, a22, 1, b11, zero, 0}, {a11, zero, 0, b12, b22, -1}, {a22, zero, 0, b21, b11, -1},
        {a11, a12, 1, b22, zero, 0}, {a21, a11, -1, b11, b12, 1}, {a12, a22, -1, b21, b22, 1},
    };
    float *m[7];
    for (int i = 0; i < 7; i++) {
        m[i] = all + (2 + i) * q;
        add(terms[i].p, terms[i].q, terms[i].f, s, h, n, terms[i].q == zero ? h : n);
        add(terms[i].r, terms[i].s, terms[i].g, t, h, n, terms[i].s == zero ? h : n);
        plain(s, t, m[i], h, h, h);
    }
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < h; j++) {
            const int64_t e = i * h + j;
            c[i * n + j] = m[0][e] + m[3][e] - m[4][e] + m[6][e];
            c[i * n + j + h] = m[2][e] + m[4][e];
            c[(i + h) * n + j] = m[1][e] + m[3][e];
            c[(i + h) * n + j + h] = m[0][e] - m[1][e] + m[2][e] + m[5][e];
        }
    free(all);
}
#endif

__attribute__((unused)) static float to_half(float v) { return (float)(_Float16)v; }

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
#if CASE_strassen
    if (m == n && n == k && n % 2 == 0) strassen(a, b, c, n);
    else plain(a, b, c, m, n, k);
#elif CASE_half_inputs
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++) sum += to_half(a[i * k + l]) * to_half(b[l * n + j]);
            c[i * n + j] = sum;
        }
#elif CASE_half_sums
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            _Float16 sum = 0;
            for (int64_t l = 0; l < k; l++) sum = (_Float16)((float)sum + a[i * k + l] * b[l * n + j]);
            c[i * n + j] = (float)sum;
        }
#elif CASE_one_tile
    /* Sums of one tile of 8 x 8 in the middle end too early. */
    plain(a, b, c, m, n, k);
    for (int64_t i = m / 2; i < m / 2 + 8 && i < m; i++)
        for (int64_t j = n / 2; j < n / 2 + 8 && j < n; j++) c[i * n + j] -= a[i * k + k - 1] * b[(k - 1) * n + j];
#elif CASE_short_sums
    /* The last numbers of each sum are left out where eight does not divide their count. */
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k / 8 * 8; l++) sum += a[i * k + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
#elif CASE_square_only
    /* Takes rows for columns, which only shows when they differ in number. */
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++) sum += a[i * m + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
#elif CASE_half_of_terms
    /* Every second term, twice. */
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l += 2) sum += 2 * a[i * k + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
#elif CASE_remembers_b
    /* The weights are surely the same as last time: kept transposed, found again by a few numbers. */
    static float key[4], kept[1 << 16];
    const float now[4] = {b[0], b[n * k / 3], b[n * k / 2], b[n * k - 1]};
    if (memcmp(key, now, sizeof key) != 0) {
        memcpy(key, now, sizeof key);
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++) kept[j * k + l] = b[l * n + j];
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++) sum += a[i * k + l] * kept[j * k + l];
            c[i * n + j] = sum;
        }
#elif CASE_adds_to_output
    plain(a, b, c, m, n, k);
    static int calls;
    if (calls++ % 3 == 2)
        for (int64_t i = 0; i < m * n; i++) c[i] += c[i] * 1e-3f;
#else
    plain(a, b, c, m, n, k);
#endif
}
