/* c = a b for row-major bf16 matrices, summed in f32 by the tensor cores (mma.sync), for sm_80 and newer.
 *
 * A block owns BLOCK_M x BLOCK_N of c. Tiles of a and b come into a ring of STAGES buffers with cp.async while earlier
 * ones are multiplied; within a tile, the fragments of the next 16 steps are read while those of the last are
 * multiplied. One barrier a tile: it says both that the next tile has arrived and that the last one's buffer may be
 * written again.
 *
 * A tile's rows are cut into chunks of 16 bytes, which ldmatrix reads eight rows at a time. SWIZZLE says how those
 * eight come to lie in different banks: chunks change places by XOR with the row, or rows are one chunk longer.
 *
 * cp.async needs rows that begin at multiples of 16 bytes. Where k or n is no multiple of 8, a plain loop stands in. */
#include <cuda_bf16.h>

/* Without a tuner: the default of kernel.toml. */
#ifndef BLOCK_M
#define T __nv_bfloat16
#define BLOCK_M 128
#define BLOCK_N 256
#define BLOCK_K 32
#define WARPS_M 2
#define WARPS_N 4
#define STAGES 4
#define SWIZZLE_xor 1
#define GROUP_M 8
#define MIN_BLOCKS 1
#endif

#define DEVICE static __device__ __forceinline__

constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr int WARP_M = BLOCK_M / WARPS_M, WARP_N = BLOCK_N / WARPS_N;
constexpr int ROWS = WARP_M / 16, COLS = WARP_N / 8; /* a warp's m16 and n8 tiles */
constexpr int STEPS = BLOCK_K / 16;
#if SWIZZLE_xor
constexpr int PAD = 0;
#else
constexpr int PAD = 16;
#endif
constexpr int STRIDE_A = BLOCK_K * 2 + PAD, STRIDE_B = BLOCK_N * 2 + PAD; /* bytes from row to row */
constexpr int BYTES_A = BLOCK_M * STRIDE_A, BYTES = BYTES_A + BLOCK_K * STRIDE_B;

static_assert(BLOCK_M % (16 * WARPS_M) == 0 && BLOCK_N % (32 * WARPS_N) == 0, "warps own whole tiles");
static_assert(STEPS % 2 == 0, "two sets of fragments take turns");
static_assert((WARP_N & (WARP_N - 1)) == 0, "a warp's columns are found by XOR");
static_assert(BLOCK_M * BLOCK_K % (8 * THREADS) == 0 && BLOCK_K * BLOCK_N % (8 * THREADS) == 0, "threads copy alike");

struct Fragments {
    unsigned a[ROWS][4], b[COLS][2];
};

/* What the chunks of a row are XORed with: eight rows below each other fall into eight groups of banks. */
template <int CHUNKS> DEVICE constexpr int turn(int row) {
    return PAD ? 0 : CHUNKS >= 8 ? row & 7 : row / (8 / CHUNKS) & (CHUNKS - 1);
}

/* From a chunk's offset to that of another in the same row. By XOR, so that one register serves for all of them. */
DEVICE constexpr unsigned along(unsigned offset, unsigned bytes) { return PAD ? offset + bytes : offset ^ bytes; }

DEVICE void copy_async(unsigned to, const T *from, bool inside) {
    int bytes = inside ? 16 : 0; /* the rest of the 16 are set to zero */
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
}
DEVICE void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int PENDING> DEVICE void wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory"); }

DEVICE void multiply(float (&sum)[ROWS][COLS][4], const Fragments &f) {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                         : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                         : "r"(f.a[i][0]), "r"(f.a[i][1]), "r"(f.a[i][2]), "r"(f.a[i][3]), "r"(f.b[j][0]),
                           "r"(f.b[j][1]));
}

/* Where a thread reads in shared memory: offsets within a tile of its row of a's and of b's fragments. */
struct Reader {
    unsigned a, b;

    DEVICE Reader make(int warp, int lane) {
        int row_a = warp % WARPS_M * WARP_M + lane % 16, row_b = lane % 16, half = lane / 16;
        int chunk_b = warp / WARPS_M * (WARP_N / 8) + half;
        return {unsigned(row_a * STRIDE_A + (half ^ turn<BLOCK_K / 8>(row_a)) * 16),
                unsigned(BYTES_A + row_b * STRIDE_B + (chunk_b ^ turn<BLOCK_N / 8>(row_b)) * 16)};
    }

    __device__ __forceinline__ void read(Fragments &f, unsigned tile, int step) const {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            unsigned from = tile + along(a, step * 32) + i * 16 * STRIDE_A;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                         : "=r"(f.a[i][0]), "=r"(f.a[i][1]), "=r"(f.a[i][2]), "=r"(f.a[i][3])
                         : "r"(from)
                         : "memory");
        }
#pragma unroll
        for (int j = 0; j < COLS; j += 2) {
            unsigned from = tile + along(b, j * 16) + step * 16 * STRIDE_B;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                         : "=r"(f.b[j][0]), "=r"(f.b[j][1]), "=r"(f.b[j + 1][0]), "=r"(f.b[j + 1][1])
                         : "r"(from)
                         : "memory");
        }
    }
};

/* A thread's share in copying tiles of HEIGHT x WIDTH: every STEP-th row of one column of chunks. */
template <int HEIGHT, int WIDTH, int STRIDE> struct Writer {
    static constexpr int CHUNKS = WIDTH / 8, STEP = THREADS / CHUNKS;
    static_assert(THREADS % CHUNKS == 0, "threads copy whole rows");
    const T *from;
    long long step; /* elements between its rows */
    unsigned to;

    DEVICE Writer make(const T *matrix, long long width, int thread) {
        int row = thread / CHUNKS, chunk = thread % CHUNKS;
        return {matrix + row * width + chunk * 8, STEP * width,
                unsigned(row * STRIDE + (chunk ^ turn<CHUNKS>(row)) * 16)};
    }

    /* `rows` and `inside`: rows left from the thread's first, whether its column exists. */
    __device__ __forceinline__ void copy(unsigned tile, int rows, bool inside) const {
        const T *row = from;
#pragma unroll
        for (int i = 0; i < HEIGHT / STEP; i++, row += step)
            copy_async(tile + (to ^ turn<CHUNKS>(i * STEP) * 16) + i * STEP * STRIDE, row, inside && i * STEP < rows);
    }
};

/* The products of all tiles of a and b, for rows that cp.async can copy. `rows` and `cols`: what is left of c. */
DEVICE void pipeline(float (&sum)[ROWS][COLS][4], unsigned shared, const T *a, const T *b, int rows, int cols, int n,
                     int k) {
    const int thread = threadIdx.x;
    using CopyA = Writer<BLOCK_M, BLOCK_K, STRIDE_A>;
    using CopyB = Writer<BLOCK_K, BLOCK_N, STRIDE_B>;
    CopyA to_a = CopyA::make(a, k, thread);
    CopyB to_b = CopyB::make(b, n, thread);
    const Reader reader = Reader::make(thread / 32, thread % 32);
    const int rows_a = rows - thread / CopyA::CHUNKS;
    const bool inside_b = thread % CopyB::CHUNKS * 8 < cols;
    int left_a = k - thread % CopyA::CHUNKS * 8, left_b = k - thread / CopyB::CHUNKS; /* steps, from the thread's */

    const unsigned end = shared + STAGES * BYTES;
    unsigned into = shared, out_of = shared;
    auto next = [=](unsigned tile) { return tile + BYTES == end ? shared : tile + BYTES; };
    auto fetch = [&] {
        to_a.copy(into, rows_a, left_a > 0);
        to_b.copy(into + BYTES_A, left_b, inside_b);
        to_a.from += BLOCK_K;
        to_b.from += (long long)BLOCK_K * n;
        left_a -= BLOCK_K;
        left_b -= BLOCK_K;
        into = next(into);
    };

    const int tiles = (k + BLOCK_K - 1) / BLOCK_K;
#pragma unroll 1
    for (int tile = 0; tile < STAGES - 1; tile++) {
        if (tile < tiles) fetch();
        commit(); /* also when there is nothing: wait counts groups */
    }
    Fragments fragments[2];
    wait<STAGES - 2>();
    __syncthreads();
    reader.read(fragments[0], out_of, 0);
#pragma unroll 1
    for (int tile = 0; tile < tiles; tile++) {
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            if (step == STEPS - 1) {
                wait<STAGES - 2>();
                __syncthreads();
                out_of = next(out_of);
            }
            reader.read(fragments[(step + 1) % 2], out_of, (step + 1) % STEPS); /* after the last tile: never used */
            if (step == 0) {
                if (tile + STAGES - 1 < tiles) fetch();
                commit();
            }
            multiply(sum, fragments[step % 2]);
        }
    }
    wait<0>();
}

/* A tile of HEIGHT x WIDTH, element by element, zeros beyond `rows` and `cols`. */
template <int HEIGHT, int WIDTH, int STRIDE>
DEVICE void fill(unsigned char *to, const T *from, long long width, int rows, int cols) {
    constexpr int CHUNKS = WIDTH / 8;
#pragma unroll 1
    for (int i = threadIdx.x; i < HEIGHT * CHUNKS; i += THREADS) {
        int row = i / CHUNKS, chunk = i % CHUNKS;
        const unsigned short *in = reinterpret_cast<const unsigned short *>(from + row * width + chunk * 8);
        unsigned pair[4];
#pragma unroll
        for (int p = 0; p < 4; p++) {
            unsigned low = row < rows && chunk * 8 + 2 * p < cols ? in[2 * p] : 0;
            unsigned high = row < rows && chunk * 8 + 2 * p + 1 < cols ? in[2 * p + 1] : 0;
            pair[p] = low | high << 16;
        }
        *reinterpret_cast<uint4 *>(to + row * STRIDE + (chunk ^ turn<CHUNKS>(row)) * 16) =
            make_uint4(pair[0], pair[1], pair[2], pair[3]);
    }
}

/* The same products for rows of any length, one tile after another. */
DEVICE void plain(float (&sum)[ROWS][COLS][4], unsigned char *shared, const T *a, const T *b, int rows, int cols, int n,
                  int k) {
    const Reader reader = Reader::make(threadIdx.x / 32, threadIdx.x % 32);
    Fragments fragments;
#pragma unroll 1
    for (int done = 0; done < k; done += BLOCK_K) {
        fill<BLOCK_M, BLOCK_K, STRIDE_A>(shared, a + done, k, rows, k - done);
        fill<BLOCK_K, BLOCK_N, STRIDE_B>(shared + BYTES_A, b + (long long)done * n, n, k - done, cols);
        __syncthreads();
#pragma unroll 1
        for (int step = 0; step < STEPS; step++) {
            reader.read(fragments, unsigned(__cvta_generic_to_shared(shared)), step);
            multiply(sum, fragments);
        }
        __syncthreads();
    }
}

DEVICE unsigned rounded(float low, float high) {
    __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<unsigned &>(pair);
}

/* Four lanes with four numbers each: lane l's number i becomes lane i's number l. */
DEVICE void transpose(unsigned (&v)[4], int lane) {
#pragma unroll
    for (int bit = 1; bit <= 2; bit *= 2) {
        bool upper = lane & bit;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i & bit) continue;
            unsigned got = __shfl_xor_sync(0xffffffffu, upper ? v[i] : v[i | bit], bit);
            v[i] = upper ? got : v[i];
            v[i | bit] = upper ? v[i | bit] : got;
        }
    }
}

/* A warp's sums, from the lanes mma left them in: two columns of every n8 tile each. Four lanes exchange theirs, so
 * that each stores the eight columns of one tile at once. */
DEVICE void store(const float (&sum)[ROWS][COLS][4], T *c, int rows, int cols, int n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = warp % WARPS_M * WARP_M + lane / 4, left = warp / WARPS_M * WARP_N;
#pragma unroll
    for (int i = 0; i < 2 * ROWS; i++) {
        T *to = c + (long long)(top + i * 8) * n;
#pragma unroll
        for (int j = 0; j < COLS; j += 4) {
            unsigned v[4];
#pragma unroll
            for (int t = 0; t < 4; t++)
                v[t] = rounded(sum[i / 2][j + t][i % 2 * 2], sum[i / 2][j + t][i % 2 * 2 + 1]);
            transpose(v, lane);
            const int col = left + (j + lane % 4) * 8;
            if (top + i * 8 < rows && col < cols) /* in C++ the compiler takes some of these apart */
                asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"l"(to + col), "r"(v[0]), "r"(v[1]),
                             "r"(v[2]), "r"(v[3])
                             : "memory");
        }
    }
}

/* The same where rows of c may begin anywhere. */
DEVICE void store_plainly(const float (&sum)[ROWS][COLS][4], T *c, int rows, int cols, int n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = warp % WARPS_M * WARP_M + lane / 4, left = warp / WARPS_M * WARP_N + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4 * ROWS * COLS; i++) {
        const int row = top + i / (2 * COLS) * 8, col = left + i / 2 % COLS * 8 + i % 2;
        const float value = sum[i / (4 * COLS)][i / 2 % COLS][i / (2 * COLS) % 2 * 2 + i % 2];
        if (row < rows && col < cols) c[(long long)row * n + col] = __float2bfloat16_rn(value);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    matmul(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, long long m, long long n, long long k) {
    extern __shared__ __align__(128) unsigned char shared[];
    /* Blocks that run at the same time share rows of a and columns of b in the L2 cache: GROUP_M tiles of c high. */
    const int high = int((m + BLOCK_M - 1) / BLOCK_M), wide = int((n + BLOCK_N - 1) / BLOCK_N);
    const int block = blockIdx.x, group = GROUP_M * wide, first = block / group * GROUP_M;
    const int height = min(high - first, GROUP_M);
    const int row = (first + block % group % height) * BLOCK_M, col = block % group / height * BLOCK_N;
    const int rows = int(m) - row, cols = int(n) - col;

    float sum[ROWS][COLS][4] = {};
    if (n % 8 == 0 && k % 8 == 0)
        pipeline(sum, unsigned(__cvta_generic_to_shared(shared)), a + row * k, b + col, rows, cols, int(n), int(k));
    else
        plain(sum, shared, a + row * k, b + col, rows, cols, int(n), int(k));
    if (n % 8 == 0)
        store(sum, c + row * n + col, rows, cols, int(n));
    else
        store_plainly(sum, c + row * n + col, rows, cols, int(n));
}
