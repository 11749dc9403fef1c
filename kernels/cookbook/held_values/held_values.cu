/* Every thread walks a list of 24 nodes and adds 128 numbers of its own. Read before the walk, they occupy 128 registers for all of
 * it, and few warps fit; read after it, they occupy none. BLOCKS bounds registers instead. */
#ifndef BLOCKS
#define BLOCKS 1
#define KEEP_registers 1
#endif

extern "C" __global__ void __launch_bounds__(256, BLOCKS)
held_values(const float *__restrict__ x, const int *__restrict__ next, float *__restrict__ y, int n, int nodes) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    unsigned at = i * 2654435761u & (nodes - 1);
    float sum = 0.0f;
#if KEEP_registers
    float own[128];
#pragma unroll
    for (int k = 0; k < 128; k++) own[k] = x[k * n + i];
    // The compiler would read them later by itself.
#pragma unroll
    for (int k = 0; k < 128; k++) asm volatile("" : "+f"(own[k]));
#endif
#pragma unroll 1
    for (int s = 0; s < 24; s++) {
        at = next[at];
        sum += (float)(at & 255);
    }
#if KEEP_registers
#pragma unroll
    for (int k = 0; k < 128; k++) asm volatile("" : "+f"(own[k]));
#pragma unroll
    for (int k = 0; k < 128; k++) sum += own[k];
#else
#pragma unroll 16
    for (int k = 0; k < 128; k++) sum += x[k * n + i];
#endif
    y[i] = sum;
}
