/* What this processor can do at best on one thread, measured by loops that do nothing else: fused multiply-adds on values
 * that stay in registers, and a walk over memory. PROBE_BYTES is the width of a vector. */
#include <stdint.h>
#include <string.h>

typedef PROBE_TYPE vector __attribute__((vector_size(PROBE_BYTES)));

/* Independent sums: enough to keep two units busy through their latency, few enough to stay in registers. */
#define CHAINS 10

/* state: CHAINS vectors; rounds: how often each number is multiplied and added to. */
void multiply_add(PROBE_TYPE *state, int64_t rounds) {
    vector local[CHAINS];
    vector factor = {0}, term = {0};
    factor += (PROBE_TYPE)0.999;
    term += (PROBE_TYPE)0.001;
    memcpy(local, state, sizeof local);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 10
        for (int i = 0; i < CHAINS; i++) local[i] = local[i] * factor + term;
    }
    memcpy(state, local, sizeof local);
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
