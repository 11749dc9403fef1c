/* c = a b with f16 matrices and f32 sums; sides are multiples of 64. A block computes 64 x 64 of c from tiles in shared memory:
 * `fma` with 4 x 4 sums for each of 256 threads, `mma` with tensor cores, 32 x 16 for each of eight warps. */
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void __launch_bounds__(256)
half_matmul(const __half *__restrict__ a, const __half *__restrict__ b, float *__restrict__ c, int m, int n, int k) {
    __shared__ __align__(32) __half left[64][40], right[32][72];
    const int row = blockIdx.y * 64, col = blockIdx.x * 64, t = threadIdx.x;
#if UNIT_mma
    using namespace nvcuda;
    const int top = t / 32 / 4 * 32, side = t / 32 % 4 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
    wmma::fill_fragment(sum[0], 0.0f);
    wmma::fill_fragment(sum[1], 0.0f);
#else
    const int y = t / 16 * 4, x = t % 16 * 4;
    float sum[4][4] = {};
#endif
    for (int step = 0; step < k; step += 32) {
        *reinterpret_cast<uint4 *>(&left[t / 4][t % 4 * 8]) = *reinterpret_cast<const uint4 *>(&a[(row + t / 4) * k + step + t % 4 * 8]);
        *reinterpret_cast<uint4 *>(&right[t / 8][t % 8 * 8]) = *reinterpret_cast<const uint4 *>(&b[(step + t / 8) * n + col + t % 8 * 8]);
        __syncthreads();
#if UNIT_mma
#pragma unroll
        for (int s = 0; s < 32; s += 16) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> across;
            wmma::load_matrix_sync(across, &right[s][side], 72);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> down;
                wmma::load_matrix_sync(down, &left[top + 16 * i][s], 40);
                wmma::mma_sync(sum[i], down, across, sum[i]);
            }
        }
#else
#pragma unroll 8
        for (int s = 0; s < 32; s++) {
            float down[4], across[4];
#pragma unroll
            for (int i = 0; i < 4; i++) down[i] = __half2float(left[y + i][s]);
#pragma unroll
            for (int j = 0; j < 4; j++) across[j] = __half2float(right[s][x + j]);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += down[i] * across[j];
        }
#endif
        __syncthreads();
    }
#if UNIT_mma
#pragma unroll
    for (int i = 0; i < 2; i++) wmma::store_matrix_sync(&c[(row + top + 16 * i) * n + col + side], sum[i], n, wmma::mem_row_major);
#else
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) c[(row + y + i) * n + col + x + j] = sum[i][j];
#endif
}
