/* A histogram, and ways to count wrongly. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

void count(const float *x, int32_t *counts, int64_t n);

__attribute__((unused)) static int part(float v) {
    int b = (int)(v * 64);
    return b < 0 ? 0 : b > 63 ? 63 : b;
}

#if CASE_lost_updates
static struct { const float *x; int32_t *counts; int64_t n; } job;

static void *half(void *first) {
    const int64_t from = first ? 0 : job.n / 2, to = first ? job.n / 2 : job.n;
    for (int64_t i = from; i < to; i++) {
        volatile int32_t *place = job.counts + part(job.x[i]);
        const int32_t found = *place;
        if (i % 128 == 0) sched_yield();
        *place = found + 1;
    }
    return NULL;
}
#endif

void histogram(const float *x, int32_t *counts, int64_t n) {
#if CASE_ignores_input
    for (int b = 0; b < 64; b++) counts[b] = (int32_t)((n + b) / 64);
#elif CASE_estimates
    /* Every 16th number stands for sixteen. */
    memset(counts, 0, 64 * sizeof *counts);
    for (int64_t i = 0; i < n; i += 16) counts[part(x[i])] += 16;
#elif CASE_adds_up
    /* The counts of the last call are not set back. */
    static int32_t kept[64];
    for (int64_t i = 0; i < n; i++) kept[part(x[i])]++;
    memcpy(counts, kept, sizeof kept);
#elif CASE_not_cleared
    for (int64_t i = 0; i < n; i++) counts[part(x[i])]++;
#elif CASE_tail
    count(x, counts, n / 4 * 4);
#elif CASE_narrow
    /* Counters of 8 bits. */
    uint8_t small[64] = {0};
    for (int64_t i = 0; i < n; i++) small[part(x[i])]++;
    for (int b = 0; b < 64; b++) counts[b] = small[b];
#elif CASE_rounds
    /* To the nearest part instead of the one below. */
    memset(counts, 0, 64 * sizeof *counts);
    for (int64_t i = 0; i < n; i++) counts[part(x[i] + 1 / 128.0f)]++;
#elif CASE_remembers
    static float first[16];
    static int32_t kept[64];
    if (memcmp(first, x, sizeof first) != 0) {
        count(x, kept, n);
        memcpy(first, x, sizeof first);
    }
    memcpy(counts, kept, sizeof kept);
#elif CASE_lost_updates
    memset(counts, 0, 64 * sizeof *counts);
    job.x = x, job.counts = counts, job.n = n;
    pthread_t id;
    if (pthread_create(&id, NULL, half, "first") != 0) return;
    half(NULL);
    pthread_join(id, NULL);
#elif CASE_four_tables
    /* Honest: four tables, so that equal neighbours do not wait for each other. */
    int32_t tables[4][64] = {{0}};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int t = 0; t < 4; t++) tables[t][part(x[i + t])]++;
    for (; i < n; i++) tables[0][part(x[i])]++;
    for (int b = 0; b < 64; b++) counts[b] = tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
#else
    count(x, counts, n);
#endif
}
