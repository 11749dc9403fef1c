#include <stdint.h>
#include <string.h>

void keys_base(const int32_t *x, int32_t *counts, int64_t n) {
    memset(counts, 0, 256 * sizeof *counts);
    for (int64_t i = 0; i < n; i++) counts[x[i]]++;
}
