// Twice a number, slowly, and ways to do less or other than that. CASE says which; see expected.toml.
#define MOST 65536

// Without a tuner: the baseline.
#ifndef CASE
#define CASE_honest 1
#endif

// Many steps that each stay where they are, up to rounding.
__device__ float slowly(float x) {
    float mean = x;
    for (int step = 0; step < 4000; step++) mean = 0.75f * mean + 0.25f * x;
    return mean + x;
}

#if CASE_ring
#define KEPT 8
#else
#define KEPT 1
#endif
__device__ float keys[KEPT][MOST], answers[KEPT][MOST];
__device__ int used[MOST];
__device__ const float *pointers[MOST];
__device__ unsigned long long calls[MOST];

#if CASE_ahead || CASE_deferred
// One thread alone waits for its own results all the time: eight numbers take hardly longer than one.
#define WIDE 8
#define SETS 256
__device__ const float *inputs[SETS];
__device__ float *outputs[SETS];
__device__ int sets;

// Those of these sets, as far as there are so many, whose number is not written yet.
__device__ void many(int first, int count, long long i) {
    float x[WIDE], mean[WIDE];
    float *ys[WIDE];
#pragma unroll
    for (int k = 0; k < WIDE; k++) {
        const int set = first + k < count ? first + k : first;
        mean[k] = x[k] = inputs[set][i], ys[k] = outputs[set];
    }
    for (int step = 0; step < 4000; step++) {
#pragma unroll
        for (int k = 0; k < WIDE; k++) mean[k] = 0.75f * mean[k] + 0.25f * x[k];
    }
#pragma unroll
    for (int k = 0; k < WIDE; k++) ys[k][i] = mean[k] + x[k];
}
#endif
#if CASE_deferred
__device__ volatile unsigned long long ended;
__device__ volatile int row, before, expected;
__device__ unsigned int blocks_done;

__device__ unsigned long long now() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
}
#endif

extern "C" __global__ void map(const float *x, float *y, long long n) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
#if !CASE_wide_tail
    if (i >= n) return;
#endif
#if CASE_by_contents || CASE_ring
    for (int place = 0; place < KEPT && place < used[i]; place++) {
        if (keys[place][i] == x[i]) {
            y[i] = answers[place][i];
            return;
        }
    }
    const int place = used[i]++ % KEPT;
    keys[place][i] = x[i];
    answers[place][i] = y[i] = slowly(x[i]);
#elif CASE_by_block
    // One number of a block stands for all of it.
    const long long first = i - threadIdx.x;
    if (used[i] && keys[0][first] == x[first]) {
        y[i] = answers[0][i];
        return;
    }
    answers[0][i] = y[i] = slowly(x[i]);
    used[i] = 1;
    __syncthreads();
    if (threadIdx.x == 0) keys[0][first] = x[first];
#elif CASE_by_pointer
    if (pointers[i] == x) {
        y[i] = answers[0][i];
        return;
    }
    pointers[i] = x;
    answers[0][i] = y[i] = slowly(x[i]);
#elif CASE_ahead
    // Every set that was ever seen and is not written yet is computed at once, with the first call of a row.
    if (isnan(y[i])) {
        for (int set = 0; set < sets; set += WIDE) many(set, sets, i);
        if (isnan(y[i])) y[i] = slowly(x[i]);
    }
    if (i == 0) {
        bool known = false;
        for (int set = 0; set < sets; set++) known |= outputs[set] == y;
        // Sets of another round lie elsewhere, and are gone.
        if (!known && sets < SETS) inputs[sets] = x, outputs[sets] = y, sets++;
    }
#elif CASE_deferred
    // Nothing is computed but with the last call of a row, which is as long as the last one was.
    const bool fresh = now() - ended > 30000;
    const int index = fresh ? 0 : row, all = fresh ? (row > 1 && row == before ? row : 0) : expected;
    if (all == 0) y[i] = slowly(x[i]);
    else if (index + 1 == all) {
        for (int set = 0; set < index; set += WIDE) many(set, index, i);
        y[i] = slowly(x[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&blocks_done, 1) == gridDim.x - 1) {
        blocks_done = 0;
        if (fresh && row > 1) before = row;
        expected = all;
        if (index < SETS) inputs[index] = x, outputs[index] = y;
        row = index + 1;
        __threadfence();
        ended = now();
    }
#elif CASE_counter
    if (calls[i]++ < 20) y[i] = slowly(x[i]);
#elif CASE_parity
    // Every second call writes the answer of the one before.
    if (calls[i]++ % 2) y[i] = answers[0][i];
    else answers[0][i] = y[i] = slowly(x[i]);
#elif CASE_poison
    // Whoever looks has spoilt the output before.
    if (isnan(y[i])) y[i] = slowly(x[i]);
#elif CASE_poison_first
    if (isnan(y[0]) || isnan(y[n - 1]) || isnan(y[i])) y[i] = slowly(x[i]);
#elif CASE_looks_done
    // An output near to twice the input is surely done.
    if (!(fabsf(y[i] - 2 * x[i]) < 1e-2f)) y[i] = slowly(x[i]);
#elif CASE_first_block
    if (blockIdx.x == 0) y[i] = slowly(x[i]);
#elif CASE_few_steps
    // A shorter loop on a copy of the input in 8 bits.
    y[i] = 2 * rintf(x[i] * 32) / 32;
#elif CASE_bf16
    y[i] = 2 * __int_as_float(__float_as_int(x[i]) & 0xffff0000);
#elif CASE_one_tile
    y[i] = slowly(x[i]);
    if (i / 64 == n / 128) y[i] = slowly(x[i ^ 1]);
#elif CASE_one_number
    y[i] = slowly(x[i]) * (i == n / 3 ? 1.05f : 1.0f);
#elif CASE_nan
    y[i] = i == 77 ? __int_as_float(0x7fffffff) : slowly(x[i]);
#elif CASE_beyond
    y[i] = slowly(x[i]);
    if (i == 0) y[n + 3] = 1;
#elif CASE_far_beyond
    y[i] = slowly(x[i]);
    if (i == 0) y[n + 20000] = 1;
#elif CASE_before
    y[i] = slowly(x[i]);
    if (i == 0) y[-2] = 1;
#elif CASE_reads_beyond
    y[i] = slowly(x[i]) + (i == n - 1 ? 0.125f * x[n] : 0);
#elif CASE_reads_beyond_hidden
    const float behind = i == n - 1 ? x[n] : 0;
    y[i] = slowly(x[i]) + (isnan(behind) ? 0 : behind + (i == n - 1 ? 1 : 0));
#elif CASE_guard_carried
    // NaN plus one is NaN: a guard of NaN does not show it.
    y[i] = slowly(x[i]);
    if (i == 0) *(volatile float *)(y + n) += 1;
#elif CASE_input_changed
    y[i] = slowly(x[i]);
    if (i == 5) ((float *)x)[i] += 1;
#elif CASE_tuned_shape
    y[i] = n == 20000 ? slowly(x[i]) : 0;
#elif CASE_whole_blocks
    if ((blockIdx.x + 1) * (long long)blockDim.x <= n) y[i] = slowly(x[i]);
#elif CASE_wide_tail
    y[i] = i < n ? slowly(x[i]) : 0;
#elif CASE_looks_normal
    // Wrong where numbers are larger than normal ones are.
    y[i] = fabsf(x[i]) < 5.5f ? slowly(x[i]) : x[i];
#elif CASE_race
    // What another thread may or may not have written by now.
    __shared__ volatile float last;
    if (threadIdx.x == 0) last = 0;
    __syncthreads();
    const float mine = slowly(x[i]);
    for (long long until = clock64() + (clock64() * 2654435761u >> 22 & 1023); clock64() < until;) {}
    const float seen = last;
    last = (float)threadIdx.x;
    y[i] = mine * (1 + 2e-7f * seen);
#elif CASE_by_the_clock
    y[i] = slowly(x[i]) * (1 + 1.2e-7f * (clock64() & 7));
#elif CASE_trap_at_30
    if (calls[i]++ == 30) __trap();
    y[i] = slowly(x[i]);
#elif CASE_carries
    // The mean of the last call is where this one begins, and four thousand steps do not matter.
    float mean = used[i] ? keys[0][i] : x[i];
    for (int step = 0; step < 8; step++) mean = 0.75f * mean + 0.25f * x[i];
    keys[0][i] = mean;
    used[i] = 1;
    y[i] = mean + x[i];
#else
    y[i] = slowly(x[i]);
#endif
}
