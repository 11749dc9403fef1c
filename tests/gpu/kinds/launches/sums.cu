/* y[row] = sum of x[row, :], by two kernels. */

/* Without a tuner. */
#ifndef PARTS
#define PARTS 8
#define THREADS 64
#define CASE_right 1
#endif

extern "C" __global__ void scatter(const int *x, int *y, int *parts, int *dirty, int *noise, int rows, int columns) {
#if CASE_not_zeroed
    parts = dirty;
#endif
    const int row = blockIdx.y;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < columns; i += gridDim.x * THREADS)
        atomicAdd(parts + row * PARTS + i % PARTS, x[(long long)row * columns + i]);
    /* What is zeroed between the launches is gone for the second. */
    if (blockIdx.x == 0 && threadIdx.x == 0) noise[row] = 1000 + row;
#if CASE_second_not_zeroed
    if (blockIdx.x == 0 && threadIdx.x == 0) dirty[row * PARTS] = 1000 + row;
#endif
}

#if CASE_too_many_arguments
extern "C" __global__ void fold(const int *x, int *y, int *parts, int *dirty, int *noise, int rows, int columns, int more) {
#else
extern "C" __global__ void fold(const int *x, int *y, int *parts, int *dirty, int *noise, int rows) {
#endif
#if CASE_not_zeroed
    parts = dirty;
#elif CASE_second_not_zeroed
    noise = dirty;
    const int step = PARTS;
#endif
#if !CASE_second_not_zeroed
    const int step = 1;
#endif
    const int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows) return;
    int sum = noise[row * step];
    for (int part = 0; part < PARTS; ++part) sum += parts[row * PARTS + part];
    y[row] = sum;
}
