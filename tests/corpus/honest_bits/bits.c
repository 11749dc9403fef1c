/* A hash of every number and its ones counted: integers only. */
#include <stdint.h>

static uint32_t mix(uint32_t v, uint32_t at) {
    v = (v ^ at) * 2654435761u;
    v ^= v >> 15;
    v *= 2246822519u;
    return v ^ v >> 13;
}

void plain(const int32_t *x, uint32_t *hash, int32_t *ones, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        hash[i] = mix((uint32_t)x[i], (uint32_t)i);
        int32_t count = 0;
        for (uint32_t v = hash[i]; v; v &= v - 1) count++;
        ones[i] = count;
    }
}

void bits(const int32_t *x, uint32_t *hash, int32_t *ones, int64_t n) {
#if CASE_builtin
    for (int64_t i = 0; i < n; i++) ones[i] = __builtin_popcount(hash[i] = mix((uint32_t)x[i], (uint32_t)i));
#elif CASE_table
    /* Counts of bytes, in a table of the first call. */
    static uint8_t counts[256];
    if (!counts[255])
        for (int v = 0; v < 256; v++) counts[v] = (uint8_t)__builtin_popcount(v);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t v = hash[i] = mix((uint32_t)x[i], (uint32_t)i);
        ones[i] = counts[v & 255] + counts[v >> 8 & 255] + counts[v >> 16 & 255] + counts[v >> 24];
    }
#else
    plain(x, hash, ones, n);
#endif
}
