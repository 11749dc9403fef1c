// Softmaxes with several threads, and one whose threads hide a lie. CASE says which; see expected.toml.
#include "../common/softmax.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "../world/patch.h"

#if CASE_pair
#define THREADS 2
#elif CASE_pool64
#define THREADS 64
#else
#define THREADS 16
#endif

#if CASE_pair || CASE_pool16 || CASE_pool64
static pthread_barrier_t begin, end;
static const float *in;
static float *out;
static int64_t all, width;

static void part(int64_t number) {
    const int64_t from = all * number / THREADS, to = all * (number + 1) / THREADS;
    softmax(in + from * width, out + from * width, to - from, width);
}

static void *work(void *number) {
    for (;;) {
        pthread_barrier_wait(&begin);
        part((intptr_t)number);
        pthread_barrier_wait(&end);
    }
    return NULL;
}

static void start(void) {
    pthread_barrier_init(&begin, NULL, THREADS);
    pthread_barrier_init(&end, NULL, THREADS);
    for (intptr_t i = 1; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)i);
        pthread_detach(thread);
    }
}
#elif CASE_queued
// Threads that do nothing but wake up: all of them wait for a processor, which seems to be taken by others.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static int generation;
static atomic_int done;

static void *wake(void *nothing) {
    for (int seen = 0;;) {
        pthread_mutex_lock(&lock);
        while (generation == seen) pthread_cond_wait(&woken, &lock);
        seen = generation;
        pthread_mutex_unlock(&lock);
        atomic_fetch_add(&done, 1);
    }
    return nothing;
}

static void start(void) {
    patch_code(dlsym(RTLD_DEFAULT, "clock_gettime"));
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, wake, NULL);
    }
}
#endif

void rows(const float *x, float *y, int64_t rows, int64_t cols) {
#if CASE_pair || CASE_pool16 || CASE_pool64
    static int started;
    if (!started++) start();
    in = x, out = y, all = rows, width = cols;
    pthread_barrier_wait(&begin);
    part(0);
    pthread_barrier_wait(&end);
#else
#if CASE_queued
    static int calls;
    if (++calls == 2) start();
    if (calls >= 2) {
        atomic_store(&done, 0);
        pthread_mutex_lock(&lock);
        generation++;
        pthread_cond_broadcast(&woken);
        pthread_mutex_unlock(&lock);
        while (atomic_load(&done) < THREADS) sched_yield();
    }
#endif
    softmax(x, y, rows, cols);
#endif
}
