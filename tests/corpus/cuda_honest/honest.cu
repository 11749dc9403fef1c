// Twice a number in honest but unusual ways. CASE says which.
extern "C" __device__ int printf(const char *, ...);

__device__ float slowly(float x) {
    float mean = x;
    for (int step = 0; step < 4000; step++) mean = 0.75f * mean + 0.25f * x;
    return mean + x;
}

#if CASE_recursion
__device__ __noinline__ float deep(float x, int left) { return left == 0 ? x : 0.5f * (deep(x, left - 1) + x); }
#endif
__device__ float space[65536], table[256];
__device__ volatile int built;
__device__ unsigned long long cycles, count;

extern "C" __global__ void honest(const float *x, float *y, long long n) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
#if CASE_prints
    if (i == 0) printf("a call with %lld numbers\n", n);
    y[i] = slowly(x[i]);
#elif CASE_workspace
    // Memory of the module, written before it is read.
    space[i] = slowly(x[i]);
    y[i] = space[i];
#elif CASE_table
    // A table that the first call builds and later ones find.
    if (!built) {
        for (int k = 0; k < 256; k++) table[k] = 2.0f;
        __threadfence();
        built = 1;
    }
    y[i] = slowly(x[i]) * 0.5f * table[i % 256];
#elif CASE_statistics
    const long long from = clock64();
    y[i] = slowly(x[i]);
    atomicAdd(&cycles, (unsigned long long)(clock64() - from));
    atomicAdd(&count, 1ull);
#elif CASE_double
    double mean = x[i];
    for (int step = 0; step < 500; step++) mean = 0.75 * mean + 0.25 * x[i];
    y[i] = (float)(mean + x[i]);
#elif CASE_divergent
    // As many steps as the number is large: every input takes another time.
    const int steps = 500 + (int)(1000 * fminf(fabsf(x[i]), 8.0f));
    float mean = x[i];
    for (int step = 0; step < steps; step++) mean = 0.75f * mean + 0.25f * x[i];
    y[i] = mean + x[i];
#elif CASE_recursion
    y[i] = deep(x[i], 40 + (int)(i & 7)) + x[i];
#elif CASE_local_memory
    float mine[256];
    for (int k = 0; k < 256; k++) mine[(k * 37 + (int)i) & 255] = x[i];
    float sum = 0;
    for (int k = 0; k < 256; k++) sum += mine[k];
    y[i] = sum / 128;
#elif CASE_gather
    // Walks over the input by what it finds there.
    long long at = i;
    float none = 0;
    for (int step = 0; step < 200; step++) {
        at = (at * 1664525 + 1013904223 + (long long)(fminf(fabsf(x[at]), 1e9f) * 1000)) % n;
        none += isnan(x[at]) ? 1 : 0;
    }
    y[i] = 2 * x[i] + none;
#elif CASE_waits
    // Sleeps for a while: bad, and honest.
    __nanosleep(20000);
    y[i] = 2 * x[i];
#else
    y[i] = slowly(x[i]);
#endif
}
