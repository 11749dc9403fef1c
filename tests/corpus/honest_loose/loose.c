/* Sums of rows, in an order that differs from call to call; the file says deterministic = false. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

void plain(const float *x, float *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += x[r * cols + c];
        y[r] = sum;
    }
}

#if CASE_atomics
static struct { const float *x; _Atomic float *y; int64_t rows, cols; } job;

static void *half(void *first) {
    for (int64_t c = first ? 0 : job.cols / 2; c < (first ? job.cols / 2 : job.cols); c++)
        for (int64_t r = 0; r < job.rows; r++) {
            float old = atomic_load(job.y + r);
            while (!atomic_compare_exchange_weak(job.y + r, &old, old + job.x[r * job.cols + c])) {}
        }
    return NULL;
}
#endif

void loose(const float *x, float *y, int64_t rows, int64_t cols) {
#if CASE_atomics
    for (int64_t r = 0; r < rows; r++) y[r] = 0;
    job.x = x, job.y = (_Atomic float *)y, job.rows = rows, job.cols = cols;
    pthread_t id;
    const int started = pthread_create(&id, NULL, half, "first") == 0;
    if (!started) half("first");
    half(NULL);
    if (started) pthread_join(id, NULL);
#elif CASE_random_order
    /* Begins anywhere in a row. */
    static unsigned state = 1;
    for (int64_t r = 0; r < rows; r++) {
        state = state * 1664525u + 1013904223u;
        const int64_t from = (int64_t)(state >> 8) % cols;
        float sum = 0;
        for (int64_t c = from; c < cols; c++) sum += x[r * cols + c];
        for (int64_t c = 0; c < from; c++) sum += x[r * cols + c];
        y[r] = sum;
    }
#else
    plain(x, y, rows, cols);
#endif
}
