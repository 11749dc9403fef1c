// How often each key comes. CASE says how; see expected.toml.
#include <stdint.h>
#include <string.h>

void keys(const int32_t *x, int32_t *counts, int64_t n) {
#if CASE_narrow
    // Half of the memory, and room enough for keys that are all about as frequent.
    uint16_t narrow[256] = {0};
    for (int64_t i = 0; i < n; i++) narrow[x[i]]++;
    for (int key = 0; key < 256; key++) counts[key] = narrow[key];
#else
    memset(counts, 0, 256 * sizeof *counts);
    for (int64_t i = 0; i < n; i++) counts[x[i]]++;
#endif
}
