#include <stdint.h>

/* Whether all numbers together have an odd number of ones. */
void parity(const int32_t *restrict x, int32_t *restrict bit, int64_t n) {
#if CASE_folded
    uint32_t all = 0;
    for (int64_t i = 0; i < n; i++) all ^= (uint32_t)x[i];
    bit[0] = __builtin_parity(all);
#else
    int32_t odd = 0;
    for (int64_t i = 0; i < n; i++) odd ^= __builtin_parity((uint32_t)x[i]);
    bit[0] = odd;
#endif
}
