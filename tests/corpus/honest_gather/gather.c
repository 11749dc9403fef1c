/* Numbers from all over a table, in an order that the inputs give: every new input finds cold caches. */
#include <stdint.h>

void plain(const float *table, const float *keys, float *y, int64_t n, int64_t m) {
    for (int64_t i = 0; i < m; i++) {
        const int64_t at = (int64_t)(keys[i] * (float)n);
        y[i] = table[at < 0 ? 0 : at >= n ? n - 1 : at];
    }
}

static int64_t place(float key, int64_t n) {
    const int64_t at = (int64_t)(key * (float)n);
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

void gather(const float *table, const float *keys, float *y, int64_t n, int64_t m) {
#if CASE_prefetch
    for (int64_t i = 0; i < m; i++) {
        if (i + 16 < m) __builtin_prefetch(table + place(keys[i + 16], n));
        y[i] = table[place(keys[i], n)];
    }
#elif CASE_branches
    /* A branch for each number that nobody can guess, with the same answer either way. */
    for (int64_t i = 0; i < m; i++) {
        const float found = table[place(keys[i], n)];
        if (found > 0) {
            __asm__ volatile("" ::: "memory");
            y[i] = found;
        } else {
            __asm__ volatile("nop" ::: "memory");
            y[i] = found;
        }
    }
#elif CASE_chase
    /* Each step waits for the one before. */
    int64_t zero = 0;
    for (int64_t i = 0; i < m; i++) {
        const float found = table[place(keys[i], n) + zero];
        zero = found != found;
        y[i] = found;
    }
#else
    for (int64_t i = 0; i < m; i++) y[i] = table[place(keys[i], n)];
#endif
}
