#include <stdint.h>

void parity_base(const int32_t *restrict x, int32_t *restrict bit, int64_t n) {
    int32_t odd = 0;
    for (int64_t i = 0; i < n; i++) odd ^= __builtin_parity((uint32_t)x[i]);
    bit[0] = odd;
}
