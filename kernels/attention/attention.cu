/* Attention forward, o = softmax(scale * q k^T) v for every head, in f16 or bf16 with sums in f32 on the tensor cores
 * (mma.sync), for sm_80 and newer. No row of scores is ever held as a whole (online softmax).
 *
 * A block owns BLOCK_M queries of one head and walks over the keys it sees in tiles of BLOCK_N, from left to right. A
 * warp owns 16 or 32 of the queries alone, so that maxima and sums never cross warps. What mma leaves as scores is, once
 * rounded, just what the next mma takes as its left side: probabilities never leave the registers. They are made 16 keys
 * at a time, between the products of the 16 keys before, so that exponentials and tensor cores work side by side.
 *
 * Tiles of k and v come into shared memory with cp.async while earlier ones are used. KV_BUFFER says how:
 *   shared  one ring of STAGES tiles, k and v in turn, one barrier a tile;
 *   split   STAGES tiles of each, which come together, one barrier for both.
 * A tile's rows are cut into chunks of 16 bytes, which ldmatrix reads eight rows at a time. SWIZZLE says how those eight
 * come to lie in different banks: chunks change places by XOR with the row, or rows are one chunk longer.
 *
 * Only tiles that cross the diagonal or the end of the keys are masked, in a loop of their own. `causal` is aligned at
 * the bottom right: query i sees the keys up to i + sk - sq. A row that sees none gets o = 0 and lse = -inf.
 *
 * Strides are in elements. The last dimension is contiguous, and all rows begin at multiples of 16 bytes, fewer than 2^31
 * elements apart; batches and heads may lie any distance apart. `scale` is not negative. `lse` may be null. */
#if T_f16
#include <cuda_fp16.h>
#else
#include <cuda_bf16.h>
#endif

/* Without a tuner: the default of kernel.toml. */
#ifndef BLOCK_M
#define T __nv_bfloat16
#define BLOCK_M 128
#define BLOCK_N 64
#define WARPS 4
#define STAGES 2
#define Q_IN_REGS 0
#define SWIZZLE_xor 1
#define KV_BUFFER_shared 1
#define UNROLL 1
#define MIN_BLOCKS 1
#endif

#define DEVICE static __device__ __forceinline__

constexpr int THREADS = 32 * WARPS;
constexpr int ROWS = BLOCK_M / WARPS / 16; /* a warp's m16 tiles */
constexpr int KEYS = BLOCK_N / 8;          /* n8 tiles of its scores */
#if SWIZZLE_xor
constexpr int PAD = 0;
#else
constexpr int PAD = 16;
#endif
#if KV_BUFFER_split
constexpr int TOGETHER = 2; /* tiles that come together */
#else
constexpr int TOGETHER = 1;
#endif
/* How far, in powers of two, scores may rise above the maximum the sums are relative to before those are scaled down:
 * a probability of 2^8 is as exact as one of 1, and far from the largest f16. */
constexpr float SLACK = 8.0f;
constexpr float LOG2E = 1.4426950408889634f, LN2 = 0.6931471805599453f;
#define INFINITE __int_as_float(0x7f800000) /* without headers, which NVRTC has few of */
/* What sums are relative to before the first score. Finite: a tile whose scores are all -inf adds nothing to it, rather than
 * the difference of two infinities. */
constexpr float LEAST = -3.0e38f;

static_assert(BLOCK_M % (16 * WARPS) == 0 && (ROWS == 1 || ROWS == 2), "a warp owns one or two m16 tiles");
static_assert(BLOCK_N % 16 == 0, "keys are multiplied sixteen at a time");
static_assert(sizeof(T) == 2, "chunks of 16 bytes hold eight elements");
static_assert(STAGES >= 1 && UNROLL >= 1, "at least one tile, and one fragment read ahead");

/* Instructions. */

DEVICE void copy_async(unsigned to, const T *from) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(to), "l"(from) : "memory");
}
/* The same, or zeros. */
DEVICE void copy_async(unsigned to, const T *from, bool inside) {
    int bytes = inside ? 16 : 0; /* the rest of the 16 are set to zero */
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
}
DEVICE void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int PENDING> DEVICE void wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory"); }

DEVICE void load_matrices(unsigned (&f)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(from)
                 : "memory");
}
DEVICE void load_transposed(unsigned (&f)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(from)
                 : "memory");
}

#if T_f16
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#define PACK "cvt.rn.f16x2.f32 "
#else
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#define PACK "cvt.rn.bf16x2.f32 "
#endif
/* Not volatile: the compiler may move products between exponentials. */
DEVICE void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm(MMA "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/* The same added to nothing, which needs no registers set to zero. */
DEVICE void multiply_first(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm(MMA "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};\n"
        : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f));
}
DEVICE unsigned rounded(float low, float high) {
    unsigned pair;
    asm(PACK "%0, %1, %2;\n" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
/* A scale of 0 makes all scores alike, but not those that a mask hides: -inf times 0 is no number. */
DEVICE float above_zero(float scale) { return fabsf(scale) < 1.17549435e-38f ? 1.17549435e-38f : scale; }
DEVICE float power(float x) { /* 2^x */
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
    return y;
}
DEVICE float from_lane(float x, int bit) { return __shfl_xor_sync(0xffffffffu, x, bit); }
DEVICE unsigned from_lane(unsigned x, int bit) { return __shfl_xor_sync(0xffffffffu, x, bit); }
/* Both volatile, so that what follows from them is computed anew where it is needed again, and takes no registers
 * between. */
DEVICE int thread_number() {
    int number;
    asm volatile("mov.u32 %0, %%tid.x;\n" : "=r"(number));
    return number;
}
DEVICE int3 block_place() {
    int3 at;
    asm volatile("mov.u32 %0, %%ctaid.x;\n"
                 "mov.u32 %1, %%ctaid.y;\n"
                 "mov.u32 %2, %%ctaid.z;\n"
                 : "=r"(at.x), "=r"(at.y), "=r"(at.z));
    return at;
}
DEVICE bool any_lane(bool x) { return __any_sync(0xffffffffu, x); }
DEVICE void store_chunk(T *to, const unsigned (&v)[4]) { /* in C++ the compiler takes some of these apart */
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}

/* End of instructions. */

/* Where things lie in shared memory, for heads of D columns. */
template <int D> struct Layout {
    static constexpr int CHUNKS = D / 8, STRIDE = D * 2 + PAD; /* of a row: chunks, bytes to the next */
    static constexpr int TILE = BLOCK_N * STRIDE, STAGE = TOGETHER * TILE, QUERIES = BLOCK_M * STRIDE;
#if Q_IN_REGS
    /* Queries pass through the end of the ring on their way to the registers; stages before them may come at once. */
    static constexpr int RING = 0, TOTAL = STAGES * STAGE > QUERIES ? STAGES * STAGE : QUERIES, Q = TOTAL - QUERIES;
    static constexpr int EARLY = Q / STAGE < STAGES - 1 ? Q / STAGE : STAGES - 1;
#else
    static constexpr int RING = QUERIES, Q = 0;
#endif
    static_assert(D % 32 == 0 && D <= 256, "rows are whole groups of chunks, and sums fit into registers");
    static_assert(STRIDE % 16 == 0, "copies and ldmatrix need rows at multiples of 16 bytes");

    /* What the chunks of a row are XORed with: eight rows below each other fall into eight groups of banks. */
    DEVICE constexpr int turn(int row) { return PAD ? 0 : CHUNKS % 8 == 0 ? row & 7 : row / 2 & 3; }
    DEVICE constexpr int offset(int row, int chunk) { return row * STRIDE + (chunk ^ turn(row)) * 16; }
};

/* One thread's place in a tile: the address of a chunk, from which it reaches others in the same row. */
template <int D> struct Place {
    static constexpr bool ROUND = (D & (D - 1)) == 0; /* rows of a power of two: XOR reaches them from the sum */
    unsigned row, chunk;

    DEVICE Place make(unsigned tile, int row, int chunk) {
        if (PAD || ROUND) return {tile + Layout<D>::offset(row, chunk), 0};
        return {tile + row * Layout<D>::STRIDE, unsigned(chunk ^ Layout<D>::turn(row)) * 16};
    }
    __device__ __forceinline__ unsigned along(unsigned bytes) const {
        return PAD ? row + bytes : ROUND ? row ^ bytes : row + (chunk ^ bytes);
    }
    __device__ __forceinline__ Place moved(unsigned bytes) const { return {row + bytes, chunk}; }
};

/* A thread's share in copying tiles of HEIGHT rows. */
template <int D, int HEIGHT> struct Copy {
    static constexpr int CHUNKS = D / 8, COUNT = HEIGHT * CHUNKS, TIMES = (COUNT + THREADS - 1) / THREADS;
    /* Where threads copy whole rows at a time, STEP of them, all chunks of a thread lie in one column. */
    static constexpr bool COLUMN = THREADS % CHUNKS == 0 && (CHUNKS & (CHUNKS - 1)) == 0;
    static constexpr int STEP = THREADS / CHUNKS;
    long long from; /* elements from the tensor to the thread's first chunk */

    DEVICE Copy make(long long start, int stride) {
        const int row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
        return {start + (COLUMN ? (long long)row * stride + chunk * 8 : 0)};
    }

    /* WHOLE: all rows exist; else zeros stand for those from `rows` on. */
    template <bool WHOLE>
    __device__ __forceinline__ void copy(unsigned tile, const T *matrix, int stride, int rows) const {
        const int thread = thread_number();
        const unsigned to = Layout<D>::offset(thread / CHUNKS, thread % CHUNKS);
        matrix += from;
#pragma unroll
        for (int i = 0; i < TIMES; i++) {
            const int index = threadIdx.x + i * THREADS, row = index / CHUNKS, chunk = index % CHUNKS;
            const bool ours = COUNT % THREADS == 0 || i < TIMES - 1 || index < COUNT;
            const T *at = matrix + (COLUMN ? (long long)stride * (i * STEP) : (long long)stride * row + chunk * 8);
            const unsigned into =
                tile + (COLUMN ? (to ^ Layout<D>::turn(i * STEP) * 16) + i * STEP * Layout<D>::STRIDE
                               : Layout<D>::offset(row, chunk));
            if (WHOLE && ours)
                copy_async(into, at);
            else if (ours)
                copy_async(into, at, row < rows);
        }
    }
};

/* What a warp keeps from tile to tile. A thread has two rows of each m16 tile, and two columns of each n8 tile. */
template <int D> struct State {
    float o[ROWS][D / 8][4];
    float most[2 * ROWS];  /* what the sums are relative to: an exponent of two, as are scores once scaled */
    float total[2 * ROWS]; /* of the thread's own columns */
};

/* The scores of a tile: rows of q against keys. */
template <int D>
DEVICE void score(float (&s)[ROWS][KEYS][4], unsigned (&q)[D / 16][ROWS][4], Place<D> queries, Place<D> keys) {
    constexpr int STEPS = D / 16, PAIRS = KEYS / 2, COUNT = STEPS * PAIRS;
    unsigned left[2][ROWS][4], right[UNROLL + 1][4];
    auto read_left = [&](int step) {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            load_matrices(left[step % 2][i], queries.along(step * 32) + i * 16 * Layout<D>::STRIDE);
    };
    auto read_right = [&](int at) {
        load_matrices(right[at % (UNROLL + 1)], keys.along(at / PAIRS * 32) + at % PAIRS * 16 * Layout<D>::STRIDE);
    };
    if (!Q_IN_REGS) read_left(0);
#pragma unroll
    for (int at = 0; at < UNROLL; at++) read_right(at);
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        if (!Q_IN_REGS && step + 1 < STEPS) read_left(step + 1);
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) {
            const int at = step * PAIRS + pair;
            if (at + UNROLL < COUNT) read_right(at + UNROLL);
            const unsigned(&b)[4] = right[at % (UNROLL + 1)];
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                const unsigned(&a)[4] = Q_IN_REGS ? q[step][i] : left[step % 2][i];
                if (step == 0) {
                    multiply_first(s[i][2 * pair], a, b[0], b[1]);
                    multiply_first(s[i][2 * pair + 1], a, b[2], b[3]);
                } else {
                    multiply(s[i][2 * pair], a, b[0], b[1]);
                    multiply(s[i][2 * pair + 1], a, b[2], b[3]);
                }
            }
        }
    }
}

/* Takes away keys from `limit` on, for each of a thread's rows; `limit` counts from the tile's first key. */
DEVICE void mask(float (&s)[ROWS][KEYS][4], const int (&limit)[2 * ROWS]) {
    const int left = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < KEYS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (j * 8 + e % 2 >= limit[2 * i + e / 2] - left) s[i][j][e] = -INFINITE;
}

/* The maxima of a tile, and sums relative to them: o and the totals are scaled down where they must be. */
template <int D> DEVICE void settle(State<D> &state, const float (&s)[ROWS][KEYS][4], float scale) {
    float most[2 * ROWS];
    bool risen = false;
#pragma unroll
    for (int r = 0; r < 2 * ROWS; r++) {
        float a = s[r / 2][0][r % 2 * 2], b = s[r / 2][0][r % 2 * 2 + 1];
#pragma unroll
        for (int j = 1; j < KEYS; j++) {
            a = fmaxf(a, s[r / 2][j][r % 2 * 2]);
            b = fmaxf(b, s[r / 2][j][r % 2 * 2 + 1]);
        }
        most[r] = fmaxf(a, b);
    }
#pragma unroll
    for (int bit = 1; bit <= 2; bit *= 2)
#pragma unroll
        for (int r = 0; r < 2 * ROWS; r++) most[r] = fmaxf(most[r], from_lane(most[r], bit));
#pragma unroll
    for (int r = 0; r < 2 * ROWS; r++) {
        most[r] *= scale;
        risen |= !(most[r] <= state.most[r] + SLACK); /* in this form true of the first tile too */
    }
    if (!any_lane(risen)) return; /* for all lanes alike: rows are shared by four */
#pragma unroll
    for (int r = 0; r < 2 * ROWS; r++) {
        const float now = fmaxf(most[r], state.most[r]);
        const float shrink = power(state.most[r] - now);
        state.most[r] = now;
        state.total[r] *= shrink;
#pragma unroll
        for (int j = 0; j < D / 8; j++) {
            state.o[r / 2][j][r % 2 * 2] *= shrink;
            state.o[r / 2][j][r % 2 * 2 + 1] *= shrink;
        }
    }
}

/* Probabilities, and with them o += p v. */
template <int D>
DEVICE void gather(State<D> &state, float (&s)[ROWS][KEYS][4], float scale, Place<D> values) {
    constexpr int STEPS = BLOCK_N / 16, PAIRS = D / 16, COUNT = STEPS * PAIRS;
    constexpr int PARTS = ROWS * 4; /* registers of p for 16 keys, two probabilities each */
    unsigned p[2][ROWS][4], right[UNROLL + 1][4];

    auto read_right = [&](int at) {
        load_transposed(right[at % (UNROLL + 1)], values.along(at % PAIRS * 32) + at / PAIRS * 16 * Layout<D>::STRIDE);
    };
    auto soften = [&](int step, int part) {
        const int i = part / 4, j = 2 * step + part % 4 / 2, h = part % 2, r = 2 * i + h;
        const float low = power(__fmaf_rn(s[i][j][2 * h], scale, -state.most[r]));
        const float high = power(__fmaf_rn(s[i][j][2 * h + 1], scale, -state.most[r]));
        state.total[r] += low + high;
        p[step % 2][i][part % 4] = rounded(low, high);
    };
#pragma unroll
    for (int at = 0; at < UNROLL; at++) read_right(at);
#pragma unroll
    for (int part = 0; part < PARTS; part++) soften(0, part);
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) {
            const int at = step * PAIRS + pair;
            if (at + UNROLL < COUNT) read_right(at + UNROLL);
            const unsigned(&b)[4] = right[at % (UNROLL + 1)];
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                multiply(state.o[i][2 * pair], p[step % 2][i], b[0], b[1]);
                multiply(state.o[i][2 * pair + 1], p[step % 2][i], b[2], b[3]);
            }
            if (step + 1 < STEPS) {
#pragma unroll
                for (int part = pair * PARTS / PAIRS; part < (pair + 1) * PARTS / PAIRS; part++) soften(step + 1, part);
            }
        }
    }
}

/* Four lanes with four numbers each: lane l's number i becomes lane i's number l. */
DEVICE void transpose(unsigned (&v)[4], int lane) {
#pragma unroll
    for (int bit = 1; bit <= 2; bit *= 2) {
        bool upper = lane & bit;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i & bit) continue;
            unsigned got = from_lane(upper ? v[i] : v[i | bit], bit);
            v[i] = upper ? got : v[i];
            v[i | bit] = upper ? v[i | bit] : got;
        }
    }
}

/* A warp's rows of o and lse, from the lanes mma left them in. Four lanes exchange theirs, so that each stores the eight
 * columns of one n8 tile at once. `rows`: how many there are from the warp's first. */
template <int D> DEVICE void store(State<D> &state, T *o, long long stride, float *lse, int rows) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2 * ROWS; r++) {
        float total = state.total[r];
        total += from_lane(total, 1);
        total += from_lane(total, 2);
        const int row = r * 8 + lane / 4;
        const float part = total > 0.0f ? 1.0f / total : 0.0f; /* a row that sees no key */
        if (lse && lane % 4 == 0 && row < rows) lse[row] = (state.most[r] + __log2f(total)) * LN2;
#pragma unroll
        for (int j = 0; j < D / 8; j += 4) {
            unsigned v[4];
#pragma unroll
            for (int t = 0; t < 4; t++) {
                const float(&c)[4] = state.o[r / 2][j + t];
                v[t] = rounded(c[r % 2 * 2] * part, c[r % 2 * 2 + 1] * part);
            }
            transpose(v, lane);
            if (row < rows) store_chunk(o + row * stride + (j + lane % 4) * 8, v);
        }
    }
}

/* Which part of the work is this block's. */
struct Share {
    int head, first; /* of all heads of all batches; the first of its queries */
};

/* Heads come in sections whose k and v fit the L2 cache, along z. Without a mask, neighbours in time share a head's keys:
 * x counts tiles of queries, y heads. With one, tiles differ in length, and the longest come first, so that the last to
 * end are short: x counts heads, y tiles. No division: what follows is known to be the same for a whole warp. */
DEVICE Share share(bool causal) {
    const int3 at = block_place();
    if (causal) return {at.z * int(gridDim.x) + at.x, (int(gridDim.y) - 1 - at.y) * BLOCK_M};
    return {at.z * int(gridDim.y) + at.y, at.x * BLOCK_M};
}

DEVICE int clamp(int x, int most) { return x < 0 ? 0 : x > most ? most : x; }

template <int D>
__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    flash_attention_forward(const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                            T *__restrict__ o, float *__restrict__ lse, float scale, int causal, long long b,
                            long long h, long long hk, long long queries, long long keys, long long /* d: here D */,
                            long long q_batch, long long q_head, long long q_row, long long kv_batch,
                            long long kv_head, long long kv_row, long long o_batch, long long o_head,
                            long long o_row) {
    extern __shared__ __align__(1024) unsigned char memory[];
    using L = Layout<D>;
    const unsigned shared = unsigned(__cvta_generic_to_shared(memory)), ring = shared + L::RING;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int sq = int(queries), sk = int(keys);
    const Share mine = share(causal);
    if (mine.head >= b * h) return; /* the last section may be smaller */
    const int batch = mine.head / int(h), head = mine.head % int(h);

    /* Tiles with keys that the last of the queries sees, and those seen whole by all of them. */
    const int last = sq - mine.first < BLOCK_M ? sq - 1 : mine.first + BLOCK_M - 1;
    const int tiles = ((causal ? clamp(last + 1 + sk - sq, sk) : sk) + BLOCK_N - 1) / BLOCK_N;
    const int whole = (causal ? clamp(mine.first + 1 + sk - sq, sk) : sk) / BLOCK_N;

    /* A stage of the ring: k and v of a tile, or one of them in turn. */
    const Copy<D, BLOCK_N> copier = Copy<D, BLOCK_N>::make(
        batch * kv_batch + head / (int(h) / int(hk)) * kv_head, int(kv_row));
    auto copy = [&](unsigned to, const T *matrix, int tile) {
        matrix += tile * (BLOCK_N * kv_row);
        if ((tile + 1) * BLOCK_N <= sk)
            copier.template copy<true>(to, matrix, int(kv_row), BLOCK_N);
        else
            copier.template copy<false>(to, matrix, int(kv_row), sk - tile * BLOCK_N);
    };
    auto fetch = [&](unsigned to, int tile, int second) {
        if (tile < tiles) { /* for all threads alike */
            if (TOGETHER == 2 || !second) copy(to, k, tile);
            if (TOGETHER == 2 || second) copy(to + (TOGETHER - 1) * L::TILE, v, tile);
        }
        commit(); /* also when there is nothing: wait counts groups */
    };
    auto begin = [&](int from, int to) {
#pragma unroll
        for (int stage = from; stage < to; stage++)
            fetch(ring + stage * L::STAGE, TOGETHER == 2 ? stage : stage / 2, stage % 2);
    };

    Copy<D, BLOCK_M>::make(batch * q_batch + head * q_head + mine.first * q_row, int(q_row))
        .template copy<false>(shared + L::Q, q, int(q_row), sq - mine.first);
    const Place<D> at_query = Place<D>::make(shared + L::Q, warp * ROWS * 16 + lane % 16, lane / 16);
    unsigned held[D / 16][ROWS][4];
#if Q_IN_REGS
    commit();
    begin(0, L::EARLY);
    wait<L::EARLY>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < D / 16 * ROWS; i++)
        load_matrices(held[i / ROWS][i % ROWS], at_query.along(i / ROWS * 32) + i % ROWS * 16 * L::STRIDE);
    __syncthreads();
    begin(L::EARLY, STAGES - 1);
#else
    begin(0, STAGES - 1); /* the queries come with the first */
#endif

    State<D> state;
#pragma unroll
    for (int r = 0; r < 2 * ROWS; r++) {
        state.most[r] = LEAST;
        state.total[r] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < ROWS * (D / 8) * 4; i++) state.o[i / (D / 2)][i / 4 % (D / 8)][i % 4] = 0.0f;

    /* Waits for the stage that is due, and has another fetched to where the one before it was. */
    unsigned due = ring;
    auto arrive = [&](int tile, int second) {
        const int ahead = TOGETHER == 2 ? 2 * (STAGES - 1) : second + STAGES - 1; /* in tiles of k and v in turn */
        const unsigned free = due == ring ? ring + (STAGES - 1) * L::STAGE : due - L::STAGE;
        if (STAGES == 1) {
            __syncthreads();
            fetch(ring, tile + ahead / 2, ahead % 2);
            wait<0>();
            __syncthreads();
            return ring;
        }
        wait<(STAGES > 2 ? STAGES - 2 : 0)>();
        __syncthreads();
        fetch(free, tile + ahead / 2, ahead % 2);
        const unsigned stage = due;
        due = due == ring + (STAGES - 1) * L::STAGE ? ring : due + L::STAGE;
        return stage;
    };
    /* This thread's rows within tiles of k and of v, as ldmatrix wants them. */
    const Place<D> in_k = Place<D>::make(0, lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const Place<D> in_v = Place<D>::make(0, lane % 16, lane / 16);

    scale = above_zero(scale * LOG2E);
    float s[ROWS][KEYS][4];
    int tile = 0;
#pragma unroll 1
    for (; tile < whole; tile++) {
        const unsigned stage = arrive(tile, 0);
        score<D>(s, held, at_query, in_k.moved(stage));
        settle(state, s, scale);
        gather<D>(state, s, scale, in_v.moved(TOGETHER == 2 ? stage + L::TILE : arrive(tile, 1)));
    }
    const int first = share(causal).first + warp * ROWS * 16 + lane / 4; /* the thread's first row */
#pragma unroll 1
    for (; tile < tiles; tile++) {
        const unsigned stage = arrive(tile, 0);
        score<D>(s, held, at_query, in_k.moved(stage));
        int limit[2 * ROWS]; /* the first key of the tile that a row does not see */
#pragma unroll
        for (int r = 0; r < 2 * ROWS; r++) {
            const int end = first + r * 8 + 1 + sk - sq;
            limit[r] = (causal && end < sk ? end : sk) - tile * BLOCK_N;
        }
        mask(s, limit);
        settle(state, s, scale);
        gather<D>(state, s, scale, in_v.moved(TOGETHER == 2 ? stage + L::TILE : arrive(tile, 1)));
    }
    commit(); /* where no key is seen, the queries are still on their way */
    wait<0>();

    const Share same = share(causal);
    const int row = same.first + warp * ROWS * 16; /* the warp's first */
    store<D>(state, o + same.head / int(h) * o_batch + same.head % int(h) * o_head + row * o_row, o_row,
             lse ? lse + (long long)same.head * sq + row : nullptr, sq - row);
}
