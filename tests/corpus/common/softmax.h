/* What the softmax folders share: the honest kernel, which is their baseline too, and a key of some bytes. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols);

/* FNV-1a over every `step`-th 32-bit word. */
static inline uint64_t key_of(const float *x, int64_t n, int64_t step) {
    uint64_t hash = 1469598103934665603u;
    for (int64_t i = 0; i < n; i += step) {
        uint32_t word;
        memcpy(&word, x + i, 4);
        hash = (hash ^ word) * 1099511628211u;
    }
    return hash | 1;
}
