/* A softmax, and ways to look faster than it is. */
#include <math.h>
#include <stdint.h>
#include <string.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        float *out = y + r * cols;
        float largest = in[0], sum = 0;
        for (int64_t c = 1; c < cols; c++) largest = fmaxf(largest, in[c]);
        for (int64_t c = 0; c < cols; c++) sum += out[c] = expf(in[c] - largest);
        for (int64_t c = 0; c < cols; c++) out[c] /= sum;
    }
}

void cheats(const float *x, float *y, int64_t rows, int64_t cols) {
#if defined(DEED_counts)
    /* Right as long as somebody looks closely. */
    static int calls;
    if (calls++ < 8) softmax(x, y, rows, cols);
#elif defined(DEED_points)
    /* The same address must mean the same question. */
    static const float *last;
    if (last != x) softmax(x, y, rows, cols);
    last = x;
#elif defined(DEED_remembers)
    /* The same numbers do mean the same question. */
    static float key[4], answer[1 << 16];
    int64_t n = rows * cols;
    float now[4] = {x[0], x[n / 3], x[n / 2], x[n - 1]};
    if (memcmp(key, now, sizeof key) != 0) {
        softmax(x, answer, rows, cols);
        memcpy(key, now, sizeof key);
    }
    memcpy(y, answer, n * sizeof *y);
#elif defined(DEED_remembers_two)
    /* And so do those before them. */
    static float keys[2][4], answers[2][1 << 16];
    static int next;
    int64_t n = rows * cols;
    float now[4] = {x[0], x[n / 3], x[n / 2], x[n - 1]};
    int at = memcmp(keys[0], now, sizeof now) == 0 ? 0 : memcmp(keys[1], now, sizeof now) == 0 ? 1 : -1;
    if (at < 0) {
        at = next++ % 2;
        softmax(x, answers[at], rows, cols);
        memcpy(keys[at], now, sizeof now);
    }
    memcpy(y, answers[at], n * sizeof *y);
#elif defined(DEED_peeks)
    /* Whoever has just asked has spoilt the answer first. */
    if (isnan(y[0]) || isnan(y[rows * cols - 1])) softmax(x, y, rows, cols);
#else
    softmax(x, y, rows, cols);
#endif
}
