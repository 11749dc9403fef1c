// Twice a number, slowly, and ways to look faster than that.
#define MOST 4096

// Many steps that each stay where they are, up to rounding.
__device__ float slowly(float x) {
    float mean = x;
    for (int step = 0; step < 20000; step++) mean = 0.75f * mean + 0.25f * x;
    return mean + x;
}

#if defined(DEED_remembers)
#define KEPT 1
#elif defined(DEED_remembers_four)
#define KEPT 4
#endif

#ifdef KEPT
// The device's memory outlives a call: the same number has the same answer.
__device__ float keys[KEPT][MOST], answers[KEPT][MOST];
__device__ int used[MOST];
#endif

#ifdef DEED_tires
__device__ int calls[MOST];
#endif

extern "C" __global__ void cheats(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef DEED_tires
    // Right for as long as somebody looks at every call.
    if (calls[i]++ >= 20) return;
#endif
#ifdef KEPT
    for (int place = 0; place < KEPT && place < used[i]; place++) {
        if (keys[place][i] == x[i]) {
            y[i] = answers[place][i];
            return;
        }
    }
    int place = used[i]++ % KEPT;
    keys[place][i] = x[i];
    answers[place][i] = y[i] = slowly(x[i]);
#else
    y[i] = slowly(x[i]);
#endif
}
