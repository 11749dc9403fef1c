/* y = x transposed. One of the two sides is not contiguous for a warp, unless a tile of 32 x 32 turns in shared memory; and there
 * a column lies in one bank, unless rows are one element longer. */
#ifndef STRIPES
#define ROUTE_straight 1
#define STRIPES 8
#endif
#if ROUTE_padded
#define WIDTH 33
#else
#define WIDTH 32
#endif

extern "C" __global__ void __launch_bounds__(32 * STRIPES)
transpose(const float *__restrict__ x, float *__restrict__ y, int rows, int cols) {
    const int left = blockIdx.x * 32, top = blockIdx.y * 32;
#if ROUTE_straight
    const int c = left + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 32; k += STRIPES) {
        const int r = top + threadIdx.y + k;
        if (r < rows && c < cols) y[c * rows + r] = x[r * cols + c];
    }
#else
    __shared__ float tile[32][WIDTH];
#pragma unroll
    for (int k = 0; k < 32; k += STRIPES) {
        const int r = top + threadIdx.y + k, c = left + threadIdx.x;
        if (r < rows && c < cols) tile[threadIdx.y + k][threadIdx.x] = x[r * cols + c];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += STRIPES) {
        const int c = left + threadIdx.y + k, r = top + threadIdx.x;
        if (r < rows && c < cols) y[c * rows + r] = tile[threadIdx.x][threadIdx.y + k];
    }
#endif
}
