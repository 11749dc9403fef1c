/* What this processor can do at best on one thread, measured by loops that do nothing else: fused multiply-adds on values
 * that stay in registers, and a walk over memory that fits no cache. */
#include <stdint.h>

#define LANES 128

/* state: LANES numbers; rounds: how often each is multiplied and added to. 2 * LANES * rounds operations. */
void multiply_add(PROBE_TYPE *state, int64_t rounds) {
    PROBE_TYPE local[LANES];
    for (int i = 0; i < LANES; i++) local[i] = state[i];
    for (int64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < LANES; i++) local[i] = local[i] * (PROBE_TYPE)0.999 + (PROBE_TYPE)0.001;
    }
    for (int i = 0; i < LANES; i++) state[i] = local[i];
}

/* sum: one number; data: count numbers, each read once. */
void read_all(int64_t *sum, const int64_t *data, int64_t count) {
    int64_t parts[32] = {0};
    for (int64_t i = 0; i + 32 <= count; i += 32) {
        for (int j = 0; j < 32; j++) parts[j] += data[i + j];
    }
    for (int j = 1; j < 32; j++) parts[0] += parts[j];
    *sum = parts[0];
}
