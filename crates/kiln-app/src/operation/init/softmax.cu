// Softmax of every row, one block a row: y[r][c] = exp(x[r][c] - max) / sum.
// Tunables arrive as -DTHREADS=128 -DLANES=8 -DKEEP=1.
#ifndef THREADS
#define THREADS 128
#endif
#ifndef LANES
#define LANES 4
#endif
#ifndef KEEP
#define KEEP 0
#endif

static_assert((THREADS & (THREADS - 1)) == 0, "the reduction halves the block");

// Combines one value of every thread; all threads get the result. `partial` has THREADS floats.
template <class Op>
__device__ float reduce(float value, float *partial, Op op) {
    __syncthreads();  // the last use of `partial` is over
    partial[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            partial[threadIdx.x] = op(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    __syncthreads();
    return partial[0];
}

extern "C" __global__ void __launch_bounds__(THREADS)
{{name}}(const float *x, float *y, long long rows, long long cols) {
    extern __shared__ float partial[];
    const float *in = x + blockIdx.x * cols;
    float *out = y + blockIdx.x * cols;
    float max = __uint_as_float(0xff800000), sum = 0.0f;  // minus infinity: NVRTC has no INFINITY
    // A thread reads LANES neighbouring columns at a time.
    for (long long c = threadIdx.x * LANES; c < cols; c += THREADS * LANES)
        for (int l = 0; l < LANES; l++)
            max = fmaxf(max, in[c + l]);
    const float row_max = reduce(max, partial, [](float a, float b) { return fmaxf(a, b); });
    for (long long c = threadIdx.x * LANES; c < cols; c += THREADS * LANES)
        for (int l = 0; l < LANES; l++) {
            float e = __expf(in[c + l] - row_max);
            sum += e;
            if (KEEP)
                out[c + l] = e;
        }
    // A reduction waits for the whole block, so what other threads kept in `out` is there after it.
    const float scale = 1.0f / reduce(sum, partial, [](float a, float b) { return a + b; });
    for (long long c = threadIdx.x; c < cols; c += THREADS)
        out[c] = (KEEP ? out[c] : __expf(in[c] - row_max)) * scale;
}
