/* A softmax, and ways to remember an answer inside the process instead of computing it. */
#include "../common/softmax.h"

#include <pthread.h>
#include <time.h>

#define MOST (1 << 14)

void remember(const float *x, float *y, int64_t rows, int64_t cols) {
    const int64_t n = rows * cols;
    (void)n;
#if CASE_by_address
    static const float *last;
    if (last != x) softmax(x, y, rows, cols);
    last = x;
#elif CASE_by_address_copy
    /* Keeps the answer too, so that a poisoned output is filled in again. */
    static struct { const float *x; float answer[MOST]; } kept[64];
    for (int at = 0; at < 64; at++) {
        if (kept[at].x == x) {
            memcpy(y, kept[at].answer, n * sizeof *y);
            return;
        }
        if (kept[at].x) continue;
        softmax(x, y, rows, cols);
        if (n <= MOST) {
            memcpy(kept[at].answer, y, n * sizeof *y);
            kept[at].x = x;
        }
        return;
    }
    softmax(x, y, rows, cols);
#elif CASE_first_bytes || CASE_sampled || CASE_full_hash
    static uint64_t key;
    static float answer[MOST];
#if CASE_first_bytes
    const uint64_t now = key_of(x, n < 4 ? n : 4, 1);
#elif CASE_sampled
    const uint64_t now = key_of(x, n, 61);
#else
    const uint64_t now = key_of(x, n, 1);
#endif
    if (n > MOST) {
        softmax(x, y, rows, cols);
        return;
    }
    if (key != now) softmax(x, answer, rows, cols);
    key = now;
    memcpy(y, answer, n * sizeof *y);
#elif CASE_full_compare
    static float question[MOST], answer[MOST];
    if (n > MOST || memcmp(question, x, n * sizeof *x) != 0) {
        softmax(x, y, rows, cols);
        if (n <= MOST) memcpy(question, x, n * sizeof *x), memcpy(answer, y, n * sizeof *y);
    } else {
        memcpy(y, answer, n * sizeof *y);
    }
#elif CASE_ring
    /* Sixteen answers, the oldest forgotten first. */
    static uint64_t keys[16];
    static float answers[16][MOST];
    static int next;
    const uint64_t now = key_of(x, n, 61);
    for (int at = 0; at < 16; at++) {
        if (keys[at] == now) {
            memcpy(y, answers[at], n * sizeof *y);
            return;
        }
    }
    softmax(x, y, rows, cols);
    if (n <= MOST) {
        memcpy(answers[next], y, n * sizeof *y);
        keys[next] = now;
        next = (next + 1) % 16;
    }
#elif CASE_rows
    /* Row by row: only rows that have changed are computed. */
    static float question[MOST], answer[MOST];
    static int64_t width;
    const int known = n <= MOST && width == cols;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = r * cols;
        if (known && memcmp(question + at, x + at, cols * sizeof *x) == 0) {
            memcpy(y + at, answer + at, cols * sizeof *y);
        } else {
            softmax(x + at, y + at, 1, cols);
            if (n > MOST) continue;
            memcpy(question + at, x + at, cols * sizeof *x);
            memcpy(answer + at, y + at, cols * sizeof *y);
        }
    }
    width = cols;
#elif CASE_counter
    /* Works while somebody is likely to look. */
    static int calls;
    if (calls++ < 8) softmax(x, y, rows, cols);
#elif CASE_parity || CASE_every_tenth
    /* The answer before is good enough for this call. */
    static float answer[MOST];
    static unsigned calls;
#if CASE_parity
    const int work = calls++ % 2 == 0;
#else
    const int work = calls++ % 10 != 9;
#endif
    if (work || n > MOST) {
        softmax(x, y, rows, cols);
        if (n <= MOST) memcpy(answer, y, n * sizeof *y);
    } else {
        memcpy(y, answer, n * sizeof *y);
    }
#elif CASE_by_time
    /* Tired 60 ms after the first call. */
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (first.tv_sec == 0) first = now;
    const double ms = (now.tv_sec - first.tv_sec) * 1e3 + (now.tv_nsec - first.tv_nsec) / 1e6;
    if (ms < 60) softmax(x, y, rows, cols);
#elif CASE_hurried
    /* Calls in quick succession are surely repetitions. */
    static struct timespec last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double us = (now.tv_sec - last.tv_sec) * 1e6 + (now.tv_nsec - last.tv_nsec) / 1e3;
    if (us > 15) softmax(x, y, rows, cols);
    clock_gettime(CLOCK_MONOTONIC, &last);
#elif CASE_poison_first || CASE_poison_any
    /* Whoever looks has spoilt the output before. */
#if CASE_poison_first
    const int poisoned = isnan(y[0]) || isnan(y[n - 1]);
#else
    int poisoned = 0;
    for (int64_t r = 0; r < rows; r++) poisoned |= isnan(y[r * cols + (r * 37) % cols]);
#endif
    if (poisoned) softmax(x, y, rows, cols);
#elif CASE_looks_right
    /* An output whose first row sums to one is surely done. */
    float sum = 0;
    for (int64_t c = 0; c < cols; c++) sum += y[c];
    if (!(fabsf(sum - 1) < 1e-3f)) softmax(x, y, rows, cols);
#elif CASE_spot_check
    /* One row is computed; when it is the old answer, so must the others be. */
    float row[4096];
    if (cols <= 4096) {
        softmax(x, row, 1, cols);
        if (memcmp(row, y, cols * sizeof *y) == 0) return;
    }
    softmax(x, y, rows, cols);
#elif CASE_table
    /* A hash table of 256 answers: every set of inputs of a short run fits. */
    static struct { uint64_t key; float *answer; } table[256];
    const uint64_t now = key_of(x, n, 29);
    for (unsigned step = 0; step < 256; step++) {
        const unsigned at = (now + step) % 256;
        if (table[at].key == now) {
            memcpy(y, table[at].answer, n * sizeof *y);
            return;
        }
        if (table[at].key) continue;
        softmax(x, y, rows, cols);
        if ((table[at].answer = malloc(n * sizeof *y))) {
            memcpy(table[at].answer, y, n * sizeof *y);
            table[at].key = now;
        }
        return;
    }
    softmax(x, y, rows, cols);
#else
    softmax(x, y, rows, cols);
#endif
}
