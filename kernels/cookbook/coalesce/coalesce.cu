/* y[r][c] = x[r][c] * s[c]. ORDER is the index that runs fastest over the threads of a warp: with `rows` lanes are a whole row
 * apart in memory, with `columns` they are neighbours. A thread computes EACH elements, far apart. */
#ifndef EACH
#define ORDER_rows 1
#define EACH 1
#endif

extern "C" __global__ void __launch_bounds__(256)
coalesce(const float *__restrict__ x, const float *__restrict__ s, float *__restrict__ y, int rows, int cols) {
    const int lane = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int other = blockIdx.y + k * gridDim.y;
#if ORDER_rows
        const int r = lane, c = other;
#else
        const int r = other, c = lane;
#endif
        if (r < rows && c < cols) y[r * cols + c] = x[r * cols + c] * s[c];
    }
}
