// One kernel in several states, see kernel.toml. `hold` keeps COUNT values of a thread alive at once: all are read before a
// barrier, and all are wanted after it.

template <int COUNT> __device__ void hold(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) v[k] = x[k * n + i];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < COUNT; ++k) y[k * n + i] = v[k] * v[(7 * k + 3) % COUNT];
}

#if defined(CASE_spilling)
// Four blocks of 256 threads leave each of them 64 registers.
#define BOUNDS __launch_bounds__(256, 4)
#elif defined(CASE_many_registers)
// Nothing tells the compiler that there are 1024 threads.
#define BOUNDS
#else
#define BOUNDS __launch_bounds__(256)
#endif

extern "C" __global__ void BOUNDS planted(const float *x, float *y, int n) {
#if defined(CASE_spilling) || defined(CASE_many_registers)
    hold<128>(x, y, n);
#elif defined(CASE_static_shared)
    // Fits alone, and so does the launch's share.
    __shared__ float tile[8192];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[n & 8191];
#elif defined(CASE_syntax)
    hold<4>(x, y, n)
#else
    hold<4>(x, y, n);
#endif
}
