// Twice a number, slowly, and tricks with rows of calls. CASE says which; see expected.toml.
typedef unsigned long long u64;

__device__ float slowly(float x) {
    float mean = x;
    for (int step = 0; step < 4000; step++) mean = 0.75f * mean + 0.25f * x;
    return mean + x;
}

__device__ u64 now() {
    u64 time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
}

// Calls less than this apart are of one row, in nanoseconds.
#define GAP 40000
#define SETS 320
#define WIDE 8
__device__ volatile u64 ended;
__device__ volatile int row, longest, rows, alone_done;
__device__ unsigned blocks_done;
__device__ const float *inputs[SETS];
__device__ float *outputs[SETS];
__device__ volatile int sets;

// What every block sees of the calls before; the last block to end writes it down.
struct Seen {
    bool fresh;
    int index, before;
};

__device__ Seen look() {
    Seen seen;
    seen.fresh = now() - ended > GAP;
    seen.before = row;
    seen.index = seen.fresh ? 0 : row;
    return seen;
}

__device__ void leave(Seen seen, bool was_alone) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&blocks_done, 1) == gridDim.x - 1) {
            blocks_done = 0;
            if (was_alone) alone_done = 1;
            row = seen.index + 1;
            if (row > longest) longest = row;
            if (row == 9) rows = rows + 1;
            __threadfence();
            ended = now();
        }
    }
}

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

extern "C" __global__ void map(const float *x, float *y, long long n) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
#if CASE_alone_free
    const Seen seen = look();
    // Full rows have been seen, and the last burst was one call: that was the priming one, so this call is timed alone. Nobody
    // checks what it writes.
    const bool alone = seen.fresh && longest >= 8 && seen.before == 1 && !alone_done;
    if (!alone && i < n) {
        // With the first call of a row everything that is known and not written yet.
        if (longest >= 8 && isnan(y[i])) {
            const int known = sets;
            for (int set = 0; set < known; set += WIDE) many(set, known, i);
        }
        if (isnan(y[i]) || longest < 8) y[i] = slowly(x[i]);
    }
    if (i == 0 && !alone) {
        bool known = false;
        for (int set = 0; set < sets; set++) known |= outputs[set] == y;
        if (!known && sets < SETS) {
            inputs[sets] = x, outputs[sets] = y;
            __threadfence();
            sets = sets + 1;
        }
    }
    leave(seen, alone);
#elif CASE_one_in_four
    const Seen seen = look();
    // The same for all blocks of a call: where it is in its row, and when the one before it ended.
    const bool skip = !seen.fresh && ((ended >> 5) * 2654435761u >> 13 & 3) == 0;
    if (!skip && i < n) y[i] = slowly(x[i]);
    leave(seen, false);
#elif CASE_tires
    const Seen seen = look();
    const bool tired = rows >= 5 && !seen.fresh;
    if (i < n && !(tired && i >= n / 2)) y[i] = slowly(x[i]);
    leave(seen, false);
#elif CASE_shuffle_tail
    if (i >= n) return;
    // Each lane computes its partner's number and hands it over. At odd sizes the last one has no partner.
    const float theirs = slowly(x[i ^ 1]);
    y[i] = __shfl_xor_sync(__activemask(), theirs, 1);
#elif CASE_left_in_shared
    __shared__ volatile float space[256];
    if (i < n) space[threadIdx.x] = x[i];
    __syncthreads();
    // The other end of the last block was written by nobody.
    const float far = blockIdx.x == gridDim.x - 1 ? space[255 - threadIdx.x] : 0;
    if (i < n) y[i] = slowly(space[threadIdx.x]) + 1e-2f * far;
#elif CASE_one_in_a_million
    if (i < n) y[i] = slowly(x[i]) * (i == 1048575 ? 1.5f : 1.0f);
#else
    if (i < n) y[i] = slowly(x[i]);
#endif
}
