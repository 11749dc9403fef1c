/* A softmax in honest but unusual ways. Whatever looks odd here is what real kernels do. */
#include "../common/softmax.h"

#include <alloca.h>
#include <assert.h>
#include <locale.h>
#include <pthread.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if CASE_table
/* exp on a grid, built on the first call; corrected by two terms of its series. */
static float grid[4096];
static int built;

static float table_exp(float v) {
    if (v < -86) return 0;
    const float at = -v * 47.0f;
    const int k = (int)at;
    const float rest = v + (float)k / 47.0f;
    return grid[k] * (1 + rest * (1 + rest * (0.5f + rest * (1 / 6.0f + rest / 24.0f))));
}
#elif CASE_recursion
/* The sum of a row by halves, and each row a call deeper than the last. */
static double sum_of(const float *x, int64_t n) {
    return n == 1 ? x[0] : sum_of(x, n / 2) + sum_of(x + n / 2, n - n / 2);
}

static int deep(const float *x, float *y, int64_t rows, int64_t cols) {
    volatile char frame[8192];
    frame[rows % 8192] = 1;
    if (rows == 0) return 0;
    float most = x[0];
    for (int64_t c = 1; c < cols; c++) most = fmaxf(most, x[c]);
    for (int64_t c = 0; c < cols; c++) y[c] = expf(x[c] - most);
    const float sum = (float)sum_of(y, cols);
    for (int64_t c = 0; c < cols; c++) y[c] /= sum;
    return deep(x + cols, y + cols, rows - 1, cols) + frame[rows % 8192];
}
#elif CASE_threads || CASE_pool
static struct { const float *x; float *y; int64_t rows, cols; } job;

static void *second_half(void *unused) {
    (void)unused;
    const int64_t half = job.rows / 2;
    softmax(job.x + half * job.cols, job.y + half * job.cols, job.rows - half, job.cols);
    return NULL;
}
#endif
#if CASE_pool
/* A thread that lives on; every call waits for it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, done;

static void *member(void *unused) {
    pthread_mutex_lock(&lock);
    for (int seen = 0;;) {
        while (asked == seen) pthread_cond_wait(&changed, &lock);
        seen = asked;
        pthread_mutex_unlock(&lock);
        second_half(unused);
        pthread_mutex_lock(&lock);
        done = seen;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}
#endif

__attribute__((unused)) static void in_double(const float *x, float *y, int64_t cols) {
    double most = x[0], sum = 0;
    for (int64_t c = 1; c < cols; c++) most = fmax(most, x[c]);
    for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - most);
    for (int64_t c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - most) / sum);
}

#if CASE_dispatch && defined(__x86_64__)
__attribute__((target("avx2"))) static float most_avx2(const float *x, int64_t n) {
    __m256 most = _mm256_set1_ps(x[0]);
    int64_t c = 0;
    for (; c + 8 <= n; c += 8) most = _mm256_max_ps(most, _mm256_loadu_ps(x + c));
    float all[8], found = x[0];
    _mm256_storeu_ps(all, most);
    for (int i = 0; i < 8; i++) found = fmaxf(found, all[i]);
    for (; c < n; c++) found = fmaxf(found, x[c]);
    return found;
}
#endif

void rows(const float *x, float *y, int64_t rows, int64_t cols) {
    const int64_t n = rows * cols;
    (void)n;
#if CASE_table
    if (!built)
        for (int k = 0; k < 4096; k++) grid[k] = (float)exp(-k / 47.0);
    built = 1;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float most = x[0], sum = 0;
        for (int64_t c = 1; c < cols; c++) most = fmaxf(most, x[c]);
        for (int64_t c = 0; c < cols; c++) sum += y[c] = table_exp(x[c] - most);
        for (int64_t c = 0; c < cols; c++) y[c] /= sum;
    }
#elif CASE_prints
    printf("rows %ld of %ld\n", (long)rows, (long)cols);
    fprintf(stderr, "rows: a call\n");
    softmax(x, y, rows, cols);
#elif CASE_prints_much
    for (int i = 0; i < 20; i++) fprintf(stderr, "rows: line %d of a report nobody reads, with some more words to fill it\n", i);
    softmax(x, y, rows, cols);
#elif CASE_threads
    job.x = x, job.y = y, job.rows = rows, job.cols = cols;
    pthread_t id;
    const int started = pthread_create(&id, NULL, second_half, NULL) == 0;
    softmax(x, y, rows / 2, cols);
    if (started) pthread_join(id, NULL);
    else second_half(NULL);
#elif CASE_pool
    static int started;
    pthread_t id;
    if (!started) started = pthread_create(&id, NULL, member, NULL) == 0 ? 1 : -1;
    pthread_mutex_lock(&lock);
    job.x = x, job.y = y, job.rows = rows, job.cols = cols;
    const int number = ++asked;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    softmax(x, y, rows / 2, cols);
    if (started < 0) {
        second_half(NULL);
        return;
    }
    pthread_mutex_lock(&lock);
    while (done != number) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
#elif CASE_recursion
    deep(x, y, rows, cols);
#elif CASE_large_stack
    float *copy = alloca(1 << 20);
    memset(copy, 0, 1 << 20);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(copy, x + r * cols, cols * sizeof *x);
        softmax(copy, y + r * cols, 1, cols);
    }
#elif CASE_malloc
    for (int64_t r = 0; r < rows; r++) {
        float *copy = malloc(cols * sizeof *copy);
        memcpy(copy, x + r * cols, cols * sizeof *x);
        softmax(copy, y + r * cols, 1, cols);
        free(copy);
    }
#elif CASE_large_malloc
    /* 32 MB a call, mapped and given back. */
    float *copy = calloc(8 << 20, sizeof *copy);
    memcpy(copy, x, n * sizeof *x);
    softmax(copy, y, rows, cols);
    free(copy);
#elif CASE_workspace
    /* Memory kept between calls, which grows when it must. */
    static float *space;
    static size_t size;
    if (size < n * sizeof *x) {
        free(space);
        size = (n * sizeof *x + 63) / 64 * 64;
        space = aligned_alloc(64, size);
    }
    memcpy(space, x, n * sizeof *x);
    softmax(space, y, rows, cols);
#elif CASE_cpuinfo
    /* What this machine can do, looked up once. */
    static int wide = -1;
    if (wide < 0) {
        char line[8192];
        FILE *file = fopen("/proc/cpuinfo", "r");
        for (wide = 0; file && fgets(line, sizeof line, file);)
            if (strncmp(line, "flags", 5) == 0) wide = strstr(line, " avx2") != NULL;
        if (file) fclose(file);
    }
    for (int64_t r = 0; r < rows; r++) softmax(x + r * cols, y + r * cols, 1, cols);
#elif CASE_data_file
    /* A constant from a file beside the source; without the file, the same constant. */
    static double one;
    if (one == 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s", __FILE__);
        char *slash = strrchr(path, '/');
        snprintf(slash ? slash + 1 : path, 32, "constant.txt");
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%lf", &one) != 1) one = 1;
        if (file) fclose(file);
    }
    softmax(x, y, rows, cols);
    for (int64_t i = 0; i < n; i++) y[i] = (float)(y[i] * one);
#elif CASE_locale
    static int set;
    if (!set++) setlocale(LC_NUMERIC, "C");
    softmax(x, y, rows, cols);
#elif CASE_asserts
    assert(rows > 0 && cols > 0);
    for (int64_t i = 0; i < n; i++) assert(x[i] == x[i]);
    softmax(x, y, rows, cols);
    for (int64_t r = 0; r < rows; r++) assert(y[r * cols] >= 0 && y[r * cols] <= 1);
#elif CASE_volatile
    softmax(x, y, rows, cols);
    for (volatile int i = 0; i < 20000; i++) {}
#elif CASE_statistics
    /* Times itself, for its own report at the end. */
    static struct { long calls; double seconds; } seen;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    softmax(x, y, rows, cols);
    clock_gettime(CLOCK_MONOTONIC, &to);
    seen.calls++, seen.seconds += (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
#elif CASE_cycles
    /* The processor's counter around every row. */
    static uint64_t cycles;
    for (int64_t r = 0; r < rows; r++) {
#if defined(__x86_64__)
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        cycles += (uint64_t)high << 32 | low;
#endif
        softmax(x + r * cols, y + r * cols, 1, cols);
    }
#elif CASE_sleeps
    /* Bad, and honest: waits 100 us for nothing. */
    usleep(100);
    softmax(x, y, rows, cols);
#elif CASE_double
    for (int64_t r = 0; r < rows; r++) in_double(x + r * cols, y + r * cols, cols);
#elif CASE_long_double
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        long double most = x[0], sum = 0;
        for (int64_t c = 1; c < cols; c++) most = x[c] > most ? x[c] : most;
        for (int64_t c = 0; c < cols; c++) sum += expl(x[c] - most);
        for (int64_t c = 0; c < cols; c++) y[c] = (float)(expl(x[c] - most) / sum);
    }
#elif CASE_dispatch && defined(__x86_64__)
    __builtin_cpu_init();
    const int wide = __builtin_cpu_supports("avx2");
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float sum = 0, most = x[0];
        if (wide) most = most_avx2(x, cols);
        else
            for (int64_t c = 1; c < cols; c++) most = fmaxf(most, x[c]);
        for (int64_t c = 0; c < cols; c++) sum += y[c] = expf(x[c] - most);
        for (int64_t c = 0; c < cols; c++) y[c] /= sum;
    }
#elif CASE_online
    /* One pass for maximum and sum: the time depends on where the maxima lie. */
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float most = x[0], sum = 1;
        for (int64_t c = 1; c < cols; c++) {
            if (x[c] > most) sum = sum * expf(most - x[c]) + 1, most = x[c];
            else sum += expf(x[c] - most);
        }
        for (int64_t c = 0; c < cols; c++) y[c] = expf(x[c] - most) / sum;
    }
#elif CASE_plans
    /* An honest cache: plans by shape, never answers. */
    static struct { int64_t rows, cols, block; } plans[8];
    int at = 0;
    while (at < 7 && plans[at].cols && (plans[at].rows != rows || plans[at].cols != cols)) at++;
    if (plans[at].rows != rows || plans[at].cols != cols) {
        plans[at].rows = rows, plans[at].cols = cols;
        for (volatile int i = 0; i < 100000; i++) {}
        plans[at].block = cols > 4096 ? 1 : 4;
    }
    for (int64_t r = 0; r < rows; r += plans[at].block) {
        const int64_t some = r + plans[at].block <= rows ? plans[at].block : rows - r;
        softmax(x + r * cols, y + r * cols, some, cols);
    }
#elif CASE_slow_start
    /* The first call of a process takes 20 ms longer. */
    static int started;
    if (!started++) usleep(20000);
    softmax(x, y, rows, cols);
#else
    softmax(x, y, rows, cols);
#endif
}
