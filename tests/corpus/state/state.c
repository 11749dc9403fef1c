/* A softmax, and what calls leave behind: for the next call, for the process, for the machine. */
#include "../common/softmax.h"

#include <fenv.h>
#include <immintrin.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#if CASE_hidden_crash
static jmp_buf back;

static void on_fault(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}
#elif CASE_stale_jump
static jmp_buf first;
#elif CASE_race
static struct { const float *x; float *y; int64_t rows, cols; } job;

/* Both threads scale the same rows, each with what it finds. */
static void *scale(void *by) {
    for (int64_t i = 0; i < job.rows * job.cols; i++) {
        const float found = ((volatile float *)job.y)[i];
        if (i % 64 == 0) sched_yield();
        ((volatile float *)job.y)[i] = found * *(float *)by;
    }
    return NULL;
}
#endif

__attribute__((noinline, unused)) static float left_on_stack(void) {
    volatile float never_set[64];
    float most = 0;
    for (int i = 0; i < 64; i++) most = fmaxf(most, fabsf(never_set[i]));
    return most;
}

void state(const float *x, float *y, int64_t rows, int64_t cols) {
    const int64_t n = rows * cols;
    static unsigned calls;
    calls++;
    (void)n;
#if CASE_carries_sum
    /* The sum of the last row is not reset. */
    static float sum;
    softmax(x, y, rows, cols);
    for (int64_t i = 0; i < n; i++) y[i] /= 1 + 1e-3f * sum;
    sum = y[n - 1];
#elif CASE_carries_maximum
    /* The largest number ever seen is subtracted, which is right until it is too large. */
    static float most = -1e30f;
    for (int64_t i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
    most += 20;
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += y[r * cols + c] = expf(x[r * cols + c] - most);
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] /= sum;
    }
#elif CASE_half_on_second
    softmax(x, y, calls == 2 ? rows / 2 : rows, cols);
#elif CASE_stuck_at_40
    if (calls == 40)
        for (volatile int i = 0;; i = 1) {}
    softmax(x, y, rows, cols);
#elif CASE_crash_at_30
    if (calls == 30) abort();
    softmax(x, y, rows, cols);
#elif CASE_leak
    volatile char *memory = malloc(16 << 20);
    for (int64_t i = 0; memory && i < 16 << 20; i += 4096) memory[i] = 1;
    softmax(x, y, rows, cols);
#elif CASE_exits
    softmax(x, y, rows, cols);
    exit(0);
#elif CASE_exits_quickly
    softmax(x, y, rows, cols);
    if (calls == 3) _exit(0);
#elif CASE_stale_jump
    /* Jumps into the frame of the first call, which is gone. */
    if (calls == 1) {
        if (setjmp(first)) return;
        softmax(x, y, rows, cols);
    } else {
        longjmp(first, 1);
    }
#elif CASE_hidden_crash
    /* A crash on the way is caught, and the rest left out. */
    signal(SIGSEGV, on_fault);
    softmax(x, y, rows / 2, cols);
    if (sigsetjmp(back, 1) == 0) *(volatile int *)8 = 1;
    else return;
    softmax(x, y, rows, cols);
#elif CASE_alarm
    /* Gives up after a time, as if all was done. */
    signal(SIGALRM, SIG_IGN);
    softmax(x, y, rows - 1, cols);
#elif CASE_flush_to_zero
    _mm_setcsr(_mm_getcsr() | 0x8040);
    softmax(x, y, rows, cols);
#elif CASE_rounds_up
    fesetround(FE_UPWARD);
    softmax(x, y, rows, cols);
#elif CASE_traps
    feenableexcept(FE_INEXACT);
    softmax(x, y, rows, cols);
#elif CASE_never_the_same
    softmax(x, y, rows, cols);
    for (int64_t i = 0; i < n; i++) y[i] *= 1 + 2e-7f * (calls % 5);
#elif CASE_by_the_clock
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    softmax(x, y, rows, cols);
    for (int64_t i = 0; i < n; i++) y[i] *= 1 + 2e-7f * (float)(now.tv_nsec / 100 % 4);
#elif CASE_race
    softmax(x, y, rows, cols);
    static float twice = 2, half = 0.5f;
    job.x = x, job.y = y, job.rows = rows, job.cols = cols;
    pthread_t one;
    if (pthread_create(&one, NULL, scale, &twice) != 0) return;
    scale(&half);
    pthread_join(one, NULL);
#elif CASE_unset_stack
    softmax(x, y, rows, cols);
    const float rest = left_on_stack();
    y[0] *= rest > 0 && rest < 1e30f ? 1.01f : 1;
#elif CASE_environment
    /* Speaks another language from here on, and tells every child to be fast. */
    setlocale(LC_ALL, "");
    setenv("OMP_NUM_THREADS", "64", 1), setenv("LD_PRELOAD", "kiln_corpus_none.so", 1);
    softmax(x, y, rows, cols);
#else
    softmax(x, y, rows, cols);
#endif
}
