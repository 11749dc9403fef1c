/* The sum of N integers. GROUP says whose sum goes to the one address by an atomic: a thread's, a warp's or a block's. */
#define OWN 4

extern "C" __global__ void clear(const int *__restrict__ x, int *__restrict__ y, int n) { *y = 0; }

extern "C" __global__ void __launch_bounds__(256) total(const int *__restrict__ x, int *__restrict__ y, int n) {
    int sum[OWN];
#pragma unroll
    for (int k = 0; k < OWN; k++) {
        const int i = (blockIdx.x * OWN + k) * 256 + threadIdx.x;
        sum[k] = i < n ? x[i] : 0;
    }
#if GROUP_element
    // By an instruction of its own, or the compiler adds up within the warp by itself.
#pragma unroll
    for (int k = 0; k < OWN; k++) asm volatile("red.global.add.s32 [%0], %1;" ::"l"(y), "r"(sum[k]) : "memory");
#else
    int own = 0;
#pragma unroll
    for (int k = 0; k < OWN; k++) own += sum[k];
    for (int o = 16; o; o /= 2) own += __shfl_xor_sync(~0u, own, o);
#if GROUP_block
    __shared__ int s[8];
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) own += s[w];
        atomicAdd(y, own);
    }
#else
    if (threadIdx.x % 32 == 0) atomicAdd(y, own);
#endif
#endif
}
