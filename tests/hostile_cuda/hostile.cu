/* y = 2 x + 1, and thirteen ways not to do it. CASE says which; two ask for too much at launch, in kernel.toml. */
#ifndef __CUDACC_RTC__
#include <assert.h>
#endif

/* Without a tuner. */
#ifndef CASE
#define CASE_good 1
#endif

extern "C" __global__ void hostile(const float *x, float *y, long long n) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const float right = i < n ? 2 * x[i] + 1 : 0;
#if CASE_good || CASE_smem_too_much || CASE_grid_too_large
    if (i < n) y[i] = right;
#elif CASE_slow
    for (int again = 0; again < 2000; again++)
        if (i < n) *(volatile float *)(y + i) = right;
#elif CASE_illegal_address
    if (i < n) y[i] = right;
    if (i == 0) *(volatile float *)8 = right;
#elif CASE_host_pointer
    /* An address of the host's with nothing behind it: a GPU that shares the host's page tables could read others. */
    float found;
    asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(found) : "l"(0x600000000000ull + 4 * i));
    if (i < n) y[i] = right + 0 * found;
#elif CASE_misaligned
    /* Four floats at once, to an address one float off. */
    if (i < n) y[i] = right;
    if (i == 0) *(float4 *)(y + 1) = make_float4(right, right, right, right);
#elif CASE_infinite_loop
    /* A local variable would not do: the compiler drops loops on one, volatile or not. */
    __shared__ volatile int waiting;
    waiting = 1;
    while (waiting) {}
    if (i < n) y[i] = right;
#elif CASE_device_assert
    if (i < n) y[i] = right;
    assert(n < 0);
#elif CASE_wrong_odd
    /* The last block is only right when it is whole. */
    const bool whole = (long long)(blockIdx.x + 1) * blockDim.x <= n;
    if (i < n) y[i] = whole ? right : right + 1;
#elif CASE_out_of_bounds
    if (i < n) y[i] = right;
    if (i == 0) y[n] = 1;
#elif CASE_unwritten
    if (i < n - 3) y[i] = right;
#elif CASE_race
    /* Warps take numbers without a lock, after waits nobody chose. What comes of it is well within any tolerance, and
     * never twice the same. */
    __shared__ volatile int taken;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    const unsigned chance = ((unsigned)clock64() + threadIdx.x / 32 * 977u) * 2654435761u >> 20;
    for (long long until = clock64() + chance; clock64() < until;) {}
    const int number = taken;
    taken = number + 1 + (chance & 3);
    if (i < n) y[i] = right * (1 + 2.4e-7f * number);
#elif CASE_input_modified
    if (i < n) y[i] = right;
    if (i == 2) ((float *)x)[i] += 1;
#elif CASE_nan
    if (i < n) y[i] = i == 3 ? __int_as_float(0x7fffffff) : right;
#else
#error "no such case"
#endif
}
