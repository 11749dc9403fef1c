/* c = a b for row-major f32 matrices of any size, without tensor cores: the textbook's tiles in shared memory.
 *
 * A block of BLOCK_X x BLOCK_Y threads owns a tile of c; each thread sums TILE_X x TILE_Y of its elements in registers.
 * They are BLOCK_X and BLOCK_Y apart, so that a warp reads neighbours in shared memory and stores neighbours in c. */

/* Without a tuner: the default of kernel.toml. */
#ifndef BLOCK_X
#define BLOCK_X 16
#define BLOCK_Y 16
#define TILE_X 4
#define TILE_Y 8
#define TILE_K 16
#define UNROLL 8
#endif

constexpr int THREADS = BLOCK_X * BLOCK_Y, WIDTH = BLOCK_X * TILE_X, HEIGHT = BLOCK_Y * TILE_Y;
constexpr int STEPS = UNROLL; /* nvcc expands no macro in a pragma */

/* One block: left alone, ptxas saves registers for a second one and spills. */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    matmul_float(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, long long m,
                 long long n, long long k) {
    __shared__ float left[HEIGHT][TILE_K + 1]; /* one more: rows below each other lie in different banks */
    __shared__ float right[TILE_K][WIDTH];
    const int x = threadIdx.x, y = threadIdx.y, thread = y * BLOCK_X + x;
    const int rows = int(m), cols = int(n), depth = int(k), row = blockIdx.y * HEIGHT, col = blockIdx.x * WIDTH;

    float sum[TILE_Y][TILE_X] = {};
    for (int done = 0; done < depth; done += TILE_K) {
#pragma unroll 4
        for (int i = thread; i < HEIGHT * TILE_K; i += THREADS) {
            const int r = row + i / TILE_K, s = done + i % TILE_K;
            left[i / TILE_K][i % TILE_K] = r < rows && s < depth ? a[(long long)r * depth + s] : 0.0f;
        }
#pragma unroll 4
        for (int i = thread; i < TILE_K * WIDTH; i += THREADS) {
            const int s = done + i / WIDTH, l = col + i % WIDTH;
            right[i / WIDTH][i % WIDTH] = s < depth && l < cols ? b[(long long)s * cols + l] : 0.0f;
        }
        __syncthreads();
#pragma unroll STEPS
        for (int s = 0; s < TILE_K; s++) {
            float across[TILE_X];
#pragma unroll
            for (int j = 0; j < TILE_X; j++) across[j] = right[s][x + j * BLOCK_X];
#pragma unroll
            for (int i = 0; i < TILE_Y; i++) {
                const float down = left[y + i * BLOCK_Y][s];
#pragma unroll
                for (int j = 0; j < TILE_X; j++) sum[i][j] += down * across[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TILE_Y; i++) {
        const int r = row + y + i * BLOCK_Y;
#pragma unroll
        for (int j = 0; j < TILE_X; j++) {
            const int l = col + x + j * BLOCK_X;
            if (r < rows && l < cols) c[(long long)r * cols + l] = sum[i][j];
        }
    }
}
