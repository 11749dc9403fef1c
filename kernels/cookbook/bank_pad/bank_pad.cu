/* y[r][c] = x[r][0] + ... + x[r][c] for rows of 32. A block brings BLOCK rows to shared memory, a thread walks along its own. With
 * rows of 32 words all lanes are in one bank. */
#ifndef BLOCK
#define LAYOUT_plain 1
#define BLOCK 128
#endif
#if LAYOUT_padded
#define AT(r, c) ((r) * 33 + (c))
#elif LAYOUT_swizzled
#define AT(r, c) ((r) * 32 + ((c) ^ ((r) & 31)))
#else
#define AT(r, c) ((r) * 32 + (c))
#endif

extern "C" __global__ void __launch_bounds__(BLOCK) bank_pad(const float *__restrict__ x, float *__restrict__ y, int rows) {
    __shared__ float s[BLOCK * 33];
    const int top = blockIdx.x * BLOCK, t = threadIdx.x, end = min(BLOCK, rows - top) * 32;
    for (int i = t; i < end; i += BLOCK) s[AT(i / 32, i % 32)] = x[top * 32 + i];
    __syncthreads();
    if (t * 32 < end) {
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < 32; c++) {
            sum += s[AT(t, c)];
            s[AT(t, c)] = sum;
        }
    }
    __syncthreads();
    for (int i = t; i < end; i += BLOCK) y[top * 32 + i] = s[AT(i / 32, i % 32)];
}
