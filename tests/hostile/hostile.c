/* Softmax of every row, and thirteen ways not to do it. DEED says which. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void softmax(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float most = x[0], sum = 0;
        for (int64_t c = 1; c < cols; c++) most = x[c] > most ? x[c] : most;
        for (int64_t c = 0; c < cols; c++) sum += y[c] = expf(x[c] - most);
        for (int64_t c = 0; c < cols; c++) y[c] /= sum;
    }
}

#if defined(DEED_background)
static struct { const float *x; float *y; int64_t rows, cols; } late;

/* The work is done, but after the call has returned: a clock that stops at the return sees none of it. */
static void *later(void *unused) {
    (void)unused;
    usleep(300000);
    softmax(late.x, late.y, late.rows, late.cols);
    return NULL;
}
#endif

void hostile(const float *x, float *y, int64_t rows, int64_t cols) {
#if defined(DEED_good)
    softmax(x, y, rows, cols);
#elif defined(DEED_slow)
    for (int i = 0; i < 4; i++) {
        softmax(x, y, rows, cols);
        __asm__ volatile("" ::: "memory");
    }
#elif defined(DEED_segfault)
    *(volatile float *)8 = x[0];
#elif defined(DEED_abort)
    abort();
#elif defined(DEED_endless)
    for (volatile int64_t i = 0;; i++) {}
#elif defined(DEED_beyond)
    softmax(x, y, rows, cols);
    y[rows * cols + 5] = 1;
#elif defined(DEED_nan)
    softmax(x, y, rows, cols);
    y[cols + 3] = NAN;
#elif defined(DEED_nothing)
    (void)x, (void)y, (void)rows, (void)cols;
#elif defined(DEED_input)
    softmax(x, y, rows, cols);
    ((float *)x)[2] += 1;
#elif defined(DEED_stale)
    /* The first answer, again and again. */
    static float *first;
    if (!first) {
        first = malloc(rows * cols * sizeof *first);
        softmax(x, first, rows, cols);
    }
    memcpy(y, first, rows * cols * sizeof *y);
#elif defined(DEED_hungry)
    for (int64_t gigabyte = 0; gigabyte < 100; gigabyte++) {
        volatile char *more = malloc(1 << 30);
        for (int64_t i = 0; more && i < 1 << 30; i += 4096) more[i] = 1;
    }
    softmax(x, y, rows, cols);
#elif defined(DEED_leave)
    softmax(x, y, rows, cols);
    exit(0);
#elif defined(DEED_moody)
    /* Well within any tolerance, and never twice the same. */
    static int mood;
    softmax(x, y, rows, cols);
    mood++;
    for (int64_t i = 0; i < rows * cols; i++) y[i] *= 1 + 4e-7f * mood;
#elif defined(DEED_background)
    late.x = x, late.y = y, late.rows = rows, late.cols = cols;
    pthread_t thread;
    pthread_create(&thread, NULL, later, NULL);
    pthread_detach(thread);
#endif
}
