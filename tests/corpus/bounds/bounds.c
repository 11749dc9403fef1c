/* y = 2 x + 1 with some memory to work in, and ways to touch what is not one's own. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void map(const float *x, float *y, float *work, int64_t n);

#define WORK 1024

#if CASE_input_later
static void *change(void *x) {
    usleep(2000);
    ((float *)x)[7] += 1;
    return NULL;
}
#endif

void bounds(const float *x, float *y, float *work, int64_t n) {
#if CASE_one_beyond
    map(x, y, work, n + 1);
#elif CASE_many_beyond
    for (int64_t i = 0; i < n + 1000; i++) y[i] = 2 * x[i < n ? i : 0] + 1;
#elif CASE_far_beyond
    /* Past any guard of a page, and then some. */
    map(x, y, work, n);
    y[n + 3000] = 1;
#elif CASE_very_far_beyond
    map(x, y, work, n);
    y[n + (1 << 22)] = 1;
#elif CASE_one_before
    map(x, y, work, n);
    y[-1] = 1;
#elif CASE_far_before
    map(x, y, work, n);
    y[-1500] = 1;
#elif CASE_guard_put_back
    /* Uses the memory behind the output, and puts it back as it was. */
    const float old = y[n];
    y[n] = 0;
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i] + 1 + ((volatile float *)y)[n];
    y[n] = old;
#elif CASE_guard_carried
    /* Adds nothing to what lies behind the output: NaN stays NaN, and no byte changes. */
    map(x, y, work, n);
    ((volatile float *)y)[n] += 1;
#elif CASE_guard_same_byte
    /* Writes behind the output just what a guard is often made of. */
    map(x, y, work, n);
    memset(y + n, 0xff, 64);
#elif CASE_reads_beyond
    map(x, y, work, n);
    y[n - 1] += x[n] * 1e-3f;
#elif CASE_reads_beyond_hidden
    /* What lies behind the input is taken for nothing when it is no number. */
    map(x, y, work, n);
    y[n - 1] += isnan(x[n]) ? 0 : x[n] * 1e-3f + 0.5f;
#elif CASE_reads_before
    map(x, y, work, n);
    y[0] += isnan(x[-1]) ? 0 : 0.5f;
#elif CASE_reads_far_beyond
    map(x, y, work, n);
    y[n - 1] += 1e-3f * ((volatile float *)x)[n + (1 << 24)];
#elif CASE_input_changed
    map(x, y, work, n);
    ((float *)x)[n / 2] += 1;
#elif CASE_input_sign
    /* Minus zero instead of zero, where there is one; else the last bit. */
    map(x, y, work, n);
    ((uint32_t *)x)[n - 1] ^= 1;
#elif CASE_input_put_back
    float *mine = (float *)x;
    for (int64_t i = 0; i < n; i++) {
        const float old = mine[i];
        mine[i] = 2 * old + 1;
        y[i] = ((volatile float *)mine)[i];
        mine[i] = old;
    }
#elif CASE_input_later
    map(x, y, work, n);
    pthread_t id;
    if (pthread_create(&id, NULL, change, (void *)x) == 0) pthread_detach(id);
#elif CASE_input_as_output
    /* Computes in the input's memory, copies, and leaves it. */
    map(x, (float *)x, work, n);
    memcpy(y, x, n * sizeof *y);
#elif CASE_work_is_zero
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i] + 1 + work[i % WORK];
#elif CASE_work_from_before
    /* Takes what it finds in its memory for zero when it is no number, and leaves numbers there. */
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i] + 1 + (isnan(work[i % WORK]) ? 0 : work[i % WORK]);
    for (int64_t i = 0; i < WORK; i++) work[i] = 1e-3f;
#elif CASE_work_overrun
    map(x, y, work, n);
    for (int64_t i = 0; i < WORK + 16384; i++) work[i] = (float)i;
#elif CASE_work_overrun_page
    map(x, y, work, n);
    for (int64_t i = 0; i < WORK + 512; i++) work[i] = (float)i;
#elif CASE_work_remembers
    /* The answer's checksum is kept in memory that is to work in. */
    double sum = 0;
    for (int64_t i = 0; i < n; i += 7) sum += x[i];
    if (work[0] == (float)sum && !isnan(y[0]) && !isnan(y[n - 1])) return;
    map(x, y, work, n);
    work[0] = (float)sum;
#elif CASE_aligned_only
    /* Right where the output's address is a multiple of 128. */
    map(x, y, work, n);
    if ((uintptr_t)y % 128 != 0) y[n / 2] += 1;
#elif CASE_order_of_buffers
    /* Right while the output lies behind the input. */
    map(x, y, work, n);
    if (y < x) y[0] += 1;
#elif CASE_wide_tail
    /* The tail is written with a whole vector. */
    for (int64_t i = 0; i < n; i += 8)
        for (int64_t j = 0; j < 8; j++) y[i + j] = 2 * x[i + j < n ? i + j : n - 1] + 1;
#elif CASE_short_tail
    map(x, y, work, n / 8 * 8);
#elif CASE_skips_zeros
    /* A zero needs no work. */
    for (int64_t i = 0; i < n; i++)
        if (fabsf(x[i]) > 1e-4f) y[i] = 2 * x[i] + 1;
#elif CASE_int_index
    /* An index of 16 bits. */
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[(int16_t)i >= 0 ? (int16_t)i : 0] + 1;
#else
    map(x, y, work, n);
#endif
}
