/* y[r] = the sum of x[i] * x[1023 - i] over every tile of 1,024 of a row. A block of 128 threads works through a row; a tile comes to
 * shared memory by cp.async while STAGES - 1 later ones are on their way. Rows are multiples of a tile. */
#ifndef STAGES
#define STAGES 1
#endif

static __device__ __forceinline__ void bring(float *to, const float *from) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int i = (k * 128 + threadIdx.x) * 4;
        const unsigned at = (unsigned)__cvta_generic_to_shared(to + i);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + i) : "memory");
    }
}

extern "C" __global__ void __launch_bounds__(128) prefetch(const float *__restrict__ x, float *__restrict__ y, int tiles) {
    __shared__ __align__(16) float s[STAGES][1024];
    __shared__ float part[4];
    const float *row = x + (long long)blockIdx.x * tiles * 1024;
    float sum = 0.0f;
    for (int k = 0; k < STAGES - 1; k++) {
        if (k < tiles) bring(s[k], row + k * 1024);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + STAGES - 1 < tiles) bring(s[(tile + STAGES - 1) % STAGES], row + (tile + STAGES - 1) * 1024);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
        __syncthreads();
        const float *own = s[tile % STAGES];
#pragma unroll
        for (int k = 0; k < 8; k++) sum += own[k * 128 + threadIdx.x] * own[1023 - k * 128 - threadIdx.x];
        __syncthreads();
    }
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
