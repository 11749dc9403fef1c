/* Attention forward, o = softmax(scale * q k^T) v for every head, in f16 or bf16 with sums in f32, for Hopper (sm_90a):
 * TMA copies, mbarriers and wgmma.
 *
 * A block owns BLOCK_M = 64 * CONSUMERS / SPLIT queries of one head and walks over the keys they see in tiles of BLOCK_N, from
 * left to right. One producer thread starts all copies: the queries once, tiles of k and v through two rings of STAGES tiles.
 * Each consumer warpgroup owns 64 queries, or shares them with others (SPLIT). Its scores s, probabilities p and output o stay in registers: what wgmma leaves
 * as scores is, once rounded, what the next wgmma takes as its left operand.
 *
 * OVERLAP: a warpgroup starts the scores of the next tile and the product p v of the current one together, and computes the
 * next exponentials while p v runs. Without it, each tile is finished before the next begins.
 * QUARTERS: how many quarters of them do not wait for p v to end; the others run beside the rounding of p.
 * PINGPONG: warpgroups take turns in starting products, so that one computes exponentials while another multiplies.
 * SCHEDULE: how blocks find their items (BLOCK_M queries of one head).
 *   single   one item for each block
 *   static   a block takes every gridDim.x-th item; with a mask every other round in reverse
 *   dynamic  a block takes the next item from a counter
 * With a mask, the items with the most keys come first. The counter returns to zero at the end of each launch; two launches
 * of the same module must not run at the same time.
 * POLY: of 16 exponentials, how many are computed by a polynomial on the FMA units instead of the special-function unit.
 *
 * For problems that leave multiprocessors idle or wait for one another's latencies:
 * SPLIT: so many warpgroups share 64 queries. Each takes every SPLIT-th tile of keys; at the end they exchange sums through
 * shared memory, always in the same order, and each stores its share of the columns.
 * FOLD: half of a block's queries come from the head's end and half from its beginning, so that with a mask all blocks have
 * the same number of keys to see, and read the tiles that both halves see once.
 * PRODUCER none: a block has consumers only. Its first thread starts the copies that have room, one of each part's threads
 * those that follow, when a tile has been read.
 * COPY threads: no producer and no TMA. Every warpgroup copies what it needs itself, which saves the way to the descriptors.
 *
 * Only tiles that cross the diagonal or the end of the keys are masked. `causal` is aligned at the bottom right: query i
 * sees the keys up to i + sk - sq. A row that sees none gets o = 0 and lse = -inf.
 *
 * Tensors q, k and v come as TMA descriptors with boxes of 64 columns (128 bytes, swizzled) and BLOCK_M or BLOCK_N rows.
 * Strides of o are in elements; its rows begin at multiples of 16 bytes. `scale` is not negative. `lse` may be null. */
#if T_f16
#include <cuda_fp16.h>
#else
#include <cuda_bf16.h>
#endif

/* Without a tuner: the default of kernel.toml. */
#ifndef BLOCK_N
#define T __nv_bfloat16
#define CONSUMERS 2
#define BLOCK_N 80
#define STAGES 2
#define OVERLAP 1
#define QUARTERS 4
#define PINGPONG 0
#define Q_IN_REGS 0
#define SCHEDULE_dynamic 1
#define POLY 0
#define MIN_BLOCKS 1
#define L2_MB 16
#define SPLIT 1
#define FOLD 0
#define PRODUCER_group 1
#define COPY_tma 1
#endif

/* Which of them a configuration uses differs. */
#define DEVICE [[maybe_unused]] static __device__ __forceinline__

typedef unsigned long long u64;

constexpr int GROUP = 128; /* threads of a warpgroup */
constexpr int TEAMS = CONSUMERS / SPLIT; /* warpgroups that share queries */
constexpr int BLOCK_M = 64 * TEAMS;
/* Queries that lie together: a block's half is copied on its own where they are folded. */
constexpr int RUN = FOLD ? BLOCK_M / 2 : BLOCK_M, RUN_TEAMS = RUN / 64;
#if COPY_threads || PRODUCER_none
constexpr int THREADS = CONSUMERS * GROUP;
#else
/* Beside one consumer, the producer is a single warp. Beside more it is a warpgroup, which gives its registers to them. */
constexpr bool LONE = CONSUMERS == 1;
constexpr int THREADS = CONSUMERS * GROUP + (LONE ? 32 : GROUP);
constexpr int PRODUCER_REGS = CONSUMERS == 2 ? 24 : 32;
constexpr int CONSUMER_REGS = CONSUMERS == 2 ? 240 : CONSUMERS == 3 ? 160 : 112;
#endif
#if OVERLAP
/* Scores of a tile whose exponentials do not wait for the product before them. */
constexpr int EARLY = BLOCK_N / 16 * QUARTERS / 4 * 8;
#endif
/* How far, in powers of two, scores may rise above the maximum the sums are relative to before those are scaled down:
 * a probability of 2^8 is as exact as one of 1, and far from the largest f16. */
constexpr float SLACK = 8.0f;
/* What sums are relative to before the first score. Finite: a tile whose scores are all -inf, or a warpgroup that sees none
 * of a row's keys, adds nothing to it, rather than the difference of two infinities. */
constexpr float LEAST = -3.0e38f;
constexpr float LOG2E = 1.4426950408889634f, LN2 = 0.6931471805599453f;
#define INFINITE __int_as_float(0x7f800000) /* without headers, which NVRTC has few of */

static_assert(CONSUMERS >= 1 && CONSUMERS <= 4, "up to four consumers fit the register file");
static_assert(BLOCK_N % 16 == 0 && BLOCK_N <= 256, "a box and a wgmma have at most 256 rows");
static_assert(sizeof(T) == 2, "swizzled rows of 128 bytes hold 64 elements");
static_assert(CONSUMERS % SPLIT == 0, "every warpgroup has a team");
#if !COPY_threads
static_assert(SPLIT <= STAGES, "each part of a team has a tile to wait for");
#endif
#if PRODUCER_none
static_assert(STAGES % SPLIT == 0, "the tiles of a stage are all of one part");
#endif
#if COPY_threads || PRODUCER_none
#if !SCHEDULE_single
#error "without a producer, a block has one item"
#endif
#endif
static_assert(!FOLD || TEAMS % 2 == 0, "two halves");
static_assert(!PINGPONG || SPLIT == 1, "parts of a team have different numbers of tiles");
static_assert(STAGES >= 2 && STAGES <= 4, "a tile of k arrives before the v before it is released; barriers of four stages");

/* A descriptor as the TMA unit reads it; cuda.h calls it CUtensorMap. */
struct alignas(64) Map {
    u64 words[16];
};

/* Instructions. */

DEVICE void init_barrier(unsigned barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(count) : "memory");
}
DEVICE void expect(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}
DEVICE void wait(unsigned barrier, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra ready;\n"
                 "bra again;\n"
                 "ready:\n"
                 "}\n" ::"r"(barrier), "r"(parity)
                 : "memory");
}
/* A box of 64 columns from the given column, row, head and batch. */
DEVICE void fetch(unsigned to, const Map &map, unsigned barrier, int column, int row, int head, int batch) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%3, %4, %5, %6}], [%2];\n" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(column), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}
DEVICE void prefetch(const Map &map) { asm volatile("prefetch.tensormap [%0];\n" ::"l"(&map) : "memory"); }

DEVICE void multiply_begin() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
DEVICE void multiply_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
template <int PENDING> DEVICE void multiply_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(PENDING) : "memory");
}
/* Registers of products that run: nothing that touches them moves across this line. */
template <int N> DEVICE void hold(float (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(x[i])::"memory");
}
template <int N> DEVICE void hold(unsigned (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+r"(x[i])::"memory");
}
DEVICE void turn_wait(int barrier) { asm volatile("bar.sync %0, 256;\n" ::"r"(barrier) : "memory"); }
DEVICE void turn_pass(int barrier) { asm volatile("bar.arrive %0, 256;\n" ::"r"(barrier) : "memory"); }

#if Q_IN_REGS
DEVICE void load_matrices(unsigned *f, unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(from)
                 : "memory");
}
#endif
#if T_f16
#define KIND "f16"
#define PACK "cvt.rn.f16x2.f32 "
#else
#define KIND "bf16"
#define PACK "cvt.rn.bf16x2.f32 "
#endif
/* Volatile: not moved up to where the registers it writes are still being read by a product. */
DEVICE unsigned rounded(float low, float high) {
    unsigned pair;
    asm volatile(PACK "%0, %1, %2;\n" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
/* A scale of 0 makes all scores alike, but not those that a mask hides: -inf times 0 is no number. */
DEVICE float above_zero(float scale) { return fabsf(scale) < 1.17549435e-38f ? 1.17549435e-38f : scale; }
DEVICE float power(float x) { /* 2^x */
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
    return y;
}
/* 2^x without the special-function unit: 2^(x - n) for the nearest integer n by a polynomial, n added to the exponent.
 * Relative error 7.5e-5 for bf16, 2.6e-6 for f16. */
DEVICE float power_fma(float x) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: the sum's low bits are n */
    x = fmaxf(x, -126.0f);
    const float t = __fadd_rn(x, magic);
    const float f = __fsub_rn(x, __fsub_rn(t, magic));
#if T_f16
    float y = __fmaf_rn(f, 0.009570101756600767f, 0.05591786030726332f);
    y = __fmaf_rn(f, y, 0.24024744831680558f);
    y = __fmaf_rn(f, y, 0.6931218147389493f);
    y = __fmaf_rn(f, y, 0.9999992614445639f);
#else
    float y = __fmaf_rn(f, 0.05517166802199286f, 0.24261112211391067f);
    y = __fmaf_rn(f, y, 0.6932609856518619f);
    y = __fmaf_rn(f, y, 0.9999280735491594f);
#endif
    return __int_as_float(__float_as_int(y) + (__float_as_int(t) << 23));
}
DEVICE float from_lane(float x, int bit) { return __shfl_xor_sync(0xffffffffu, x, bit); }
DEVICE unsigned from_lane(unsigned x, int bit) { return __shfl_xor_sync(0xffffffffu, x, bit); }
DEVICE bool any_lane(bool x) { return __any_sync(0xffffffffu, x); }
DEVICE void team_wait(int barrier, int threads) { asm volatile("bar.sync %0, %1;\n" ::"r"(barrier), "r"(threads) : "memory"); }
DEVICE void put(unsigned to, float a, float b, float c, float d) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"r"(to), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}
DEVICE float4 get(unsigned from) {
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(from) : "memory");
    return v;
}
#if COPY_threads
/* 16 bytes, or zeros where there is nothing. */
DEVICE void copy_chunk(unsigned to, const T *from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int PENDING> DEVICE void copy_wait() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory");
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}
#endif
DEVICE void store_chunk(T *to, const unsigned (&v)[4]) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}

/* wgmma for 64 rows and N columns, 16 deep. The accumulator is N / 2 registers of each thread. */
#define R0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define R1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define R2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define R3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define R4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define R5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define R6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define R7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define R8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define R9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define R10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define R11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define R12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define R13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define R14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define R15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define L16 R0 ", " R1
#define L24 L16 ", " R2
#define L32 L24 ", " R3
#define L40 L32 ", " R4
#define L48 L40 ", " R5
#define L56 L48 ", " R6
#define L64 L56 ", " R7
#define L72 L64 ", " R8
#define L80 L72 ", " R9
#define L88 L80 ", " R10
#define L96 L88 ", " R11
#define L104 L96 ", " R12
#define L112 L104 ", " R13
#define L120 L112 ", " R14
#define L128 L120 ", " R15
#define F8(i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define F16 F8(0), F8(8)
#define F24 F16, F8(16)
#define F32 F24, F8(24)
#define F40 F32, F8(32)
#define F48 F40, F8(40)
#define F56 F48, F8(48)
#define F64 F56, F8(56)
#define F72 F64, F8(64)
#define F80 F72, F8(72)
#define F88 F80, F8(80)
#define F96 F88, F8(88)
#define F104 F96, F8(96)
#define F112 F104, F8(104)
#define F120 F112, F8(112)
#define F128 F120, F8(120)

template <int N> struct Product;
/* H = N / 2 registers, and the numbers of the operands after them. */
#define PRODUCT(N, H, H1, H2, H3, H4, H5)                                                                              \
    template <> struct Product<N> {                                                                                    \
        /* Both operands in shared memory, both with depth running along rows. */                                      \
        DEVICE void keys(float (&d)[H], u64 a, u64 b, int add) {                                                       \
            asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #H2 ", 0;\n"                                         \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." KIND "." KIND " {" L##H "}, %" #H           \
                         ", %" #H1 ", add, 1, 1, 0, 0;\n}\n"                                                           \
                         : F##H                                                                                        \
                         : "l"(a), "l"(b), "r"(add)                                                                    \
                         : "memory");                                                                                  \
        }                                                                                                              \
        /* The left operand in registers. */                                                                           \
        DEVICE void keys(float (&d)[H], const unsigned *a, u64 b, int add) {                                           \
            asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #H5 ", 0;\n"                                         \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." KIND "." KIND " {" L##H "}, {%" #H          \
                         ", %" #H1 ", %" #H2 ", %" #H3 "}, %" #H4 ", add, 1, 1, 0;\n}\n"                               \
                         : F##H                                                                                        \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)                                \
                         : "memory");                                                                                  \
        }                                                                                                              \
        /* The left operand in registers, the right one transposed: depth runs across rows. */                         \
        DEVICE void values(float (&d)[H], const unsigned *a, u64 b) {                                                  \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." KIND "." KIND " {" L##H "}, {%" #H          \
                         ", %" #H1 ", %" #H2 ", %" #H3 "}, %" #H4 ", 1, 1, 1, 1;\n"                                    \
                         : F##H                                                                                        \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                          \
                         : "memory");                                                                                  \
        }                                                                                                              \
    };
PRODUCT(32, 16, 17, 18, 19, 20, 21)
PRODUCT(48, 24, 25, 26, 27, 28, 29)
PRODUCT(64, 32, 33, 34, 35, 36, 37)
PRODUCT(80, 40, 41, 42, 43, 44, 45)
PRODUCT(96, 48, 49, 50, 51, 52, 53)
PRODUCT(112, 56, 57, 58, 59, 60, 61)
PRODUCT(128, 64, 65, 66, 67, 68, 69)
PRODUCT(144, 72, 73, 74, 75, 76, 77)
PRODUCT(160, 80, 81, 82, 83, 84, 85)
PRODUCT(176, 88, 89, 90, 91, 92, 93)
PRODUCT(192, 96, 97, 98, 99, 100, 101)
PRODUCT(208, 104, 105, 106, 107, 108, 109)
PRODUCT(224, 112, 113, 114, 115, 116, 117)
PRODUCT(240, 120, 121, 122, 123, 124, 125)
PRODUCT(256, 128, 129, 130, 131, 132, 133)

/* End of instructions. */

/* Where things lie in shared memory, for heads of D columns. Tiles are cut into panels of 64 columns; a panel's rows have
 * 128 bytes, swizzled by TMA as wgmma expects them. */
template <int D> struct Layout {
    static constexpr int PANELS = D / 64;
    static constexpr int Q_PANEL = BLOCK_M * 128, QUERIES = PANELS * Q_PANEL;
    static constexpr int PANEL = BLOCK_N * 128, TILE = PANELS * PANEL;
#if COPY_threads
    /* Every warpgroup has its own queries and tiles. */
    static constexpr int OWN_PANEL = 64 * 128, OWN_QUERIES = PANELS * OWN_PANEL;
    static constexpr int K = OWN_QUERIES, V = K + STAGES * TILE, OWN = V + STAGES * TILE, BARRIERS = CONSUMERS * OWN;
#else
    static constexpr int K = QUERIES, V = K + STAGES * TILE, BARRIERS = V + STAGES * TILE;
#endif
    /* Barriers: queries full and empty, then for each stage k full, k empty, v full, v empty. After them the item. */
    static constexpr int Q_FULL = BARRIERS, Q_EMPTY = Q_FULL + 8;
    static constexpr int K_FULL = Q_EMPTY + 8, K_EMPTY = K_FULL + 8 * STAGES;
    static constexpr int V_FULL = K_EMPTY + 8 * STAGES, V_EMPTY = V_FULL + 8 * STAGES;
    static constexpr int ITEM = BARRIERS + 160;
    /* What warpgroups that share queries exchange: of each thread, sixteen bytes for eight columns, and sixteen more. */
    static constexpr int EXCHANGE = BARRIERS + 256, SHARE = GROUP * 16 * (D / 8 + 1);
    /* So many of those that share queries store columns, at least 32 each. */
    static constexpr int STORERS = SPLIT < D / 32 ? SPLIT : D / 32;
    static_assert(D % 64 == 0 && D <= 256, "heads of whole panels");
};

/* What wgmma is told about a matrix in shared memory: address, distance of panels along the rows (or 1 where depth runs
 * along them), 1024 bytes from eight rows to the next eight, swizzle of 128 bytes. */
DEVICE u64 describe(unsigned address, int panel) {
    return u64(1) << 62 | u64(64) << 32 | u64(panel) << 16 | address >> 4;
}

/* A place in a ring of stages. */
struct Ring {
    int stage = 0;
    unsigned phase = 0;
    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
    /* To the next tile of those that SPLIT warpgroups share. */
    __device__ __forceinline__ void skip() {
        stage += SPLIT;
        if (stage >= STAGES) stage -= STAGES, phase ^= 1;
    }
};

DEVICE int clamp(int x, int most) { return x < 0 ? 0 : x > most ? most : x; }

/* Lengths, and what follows from them. */
struct Problem {
    int causal, b, h, hk, sq, sk, q_tiles;

    /* Tiles of keys that queries up to `last` see. */
    __device__ __forceinline__ int tiles(int last) const {
        return ((causal ? clamp((last < sq ? last : sq - 1) + 1 + sk - sq, sk) : sk) + BLOCK_N - 1) / BLOCK_N;
    }
    /* Tiles of keys that query `first` sees whole. */
    __device__ __forceinline__ int whole(int first) const {
        return (causal ? clamp(first + 1 + sk - sq, sk) : sk) / BLOCK_N;
    }
};

/* BLOCK_M queries of one head. */
struct alignas(16) Item {
    int first, head, batch, tiles; /* first query, or -1: there are no more items */

    /* Tile number `tile` of the head's queries. Folded, the first of them are a half from the end. */
    __device__ __forceinline__ void place(const Problem &p, int tile) {
        first = FOLD ? ((p.sq + RUN - 1) / RUN - 1 - tile) * RUN : tile * BLOCK_M;
        tiles = p.tiles(first + RUN - 1);
    }
    /* The first query of a half, where they are folded; there may be no second one. */
    __device__ __forceinline__ int half(const Problem &p, int which) const {
        const int other = ((p.sq + RUN - 1) / RUN - 1) * RUN - first;
        return which == 0 ? first : other == first ? p.sq : other;
    }
    /* The first query of a warpgroup's 64. */
    __device__ __forceinline__ int start(const Problem &p, int team) const {
        return FOLD ? half(p, team / RUN_TEAMS) + team % RUN_TEAMS * 64 : first + team * 64;
    }
};

#if SCHEDULE_single
/* The block's only item. Without a mask, x counts tiles of queries and y heads: neighbours share a head's keys. With one, x
 * counts heads and y tiles, the longest first. z counts batches. */
template <int D> DEVICE Item decode(const Problem &p, int) {
    const int tile = p.causal ? int(gridDim.y) - 1 - int(blockIdx.y) : int(blockIdx.x);
    Item item;
    item.place(p, tile);
    item.head = p.causal ? blockIdx.x : blockIdx.y;
    item.batch = blockIdx.z;
    return item;
}
#else
/* Item number `at`. Without a mask, neighbours share a head's keys. With one, items differ in length and the longest come
 * first, within sections of heads whose k and v fit the L2 cache together. */
template <int D> DEVICE Item decode(const Problem &p, int at) {
    int head, tile;
    if (p.causal) {
        const int heads = p.b * p.h, fit = (L2_MB << 20) / (4 * D) / p.sk;
        const int section = fit < 1 ? 1 : fit < heads ? fit : heads;
        const int size = p.q_tiles * section, part = at / size, within = at - part * size;
        const int left = heads - part * section, here = left < section ? left : section;
        tile = p.q_tiles - 1 - within / here;
        head = part * section + within % here;
    } else {
        head = at / p.q_tiles;
        tile = at - head * p.q_tiles;
    }
    Item item;
    item.place(p, tile);
    item.batch = head / p.h;
    item.head = head - item.batch * p.h;
    return item;
}
#endif

#if SCHEDULE_dynamic
__device__ unsigned taken, finished; /* items beyond the first of each block; blocks that found none left */
#endif

/* The numbers of a block's items, one after another. */
struct Queue {
    int count, at, round;

    DEVICE Queue make(const Problem &p) {
#if SCHEDULE_single
        return {1, 0, 0};
#else
        return {p.b * p.h * p.q_tiles, int(blockIdx.x), 0};
#endif
    }
    __device__ __forceinline__ bool empty() const { return at >= count; }
    __device__ __forceinline__ void next(int causal) {
#if SCHEDULE_single
        at = count;
#elif SCHEDULE_static
        const int width = int(gridDim.x);
        round++;
        at = round * width + (causal && round % 2 ? width - 1 - int(blockIdx.x) : int(blockIdx.x));
        /* The last round may end before this block's place in it; later rounds are empty for all. */
#else
        at = int(gridDim.x + atomicAdd(&taken, 1u));
#endif
    }
    __device__ __forceinline__ void end() const {
#if SCHEDULE_dynamic
        if (atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1) taken = 0; /* nobody asks any more */
#endif
    }
};

#if !COPY_threads
/* Starts the copy of a tile of k or v. */
template <int D>
DEVICE void fetch_tile(unsigned shared, const Map &map, int tiles, int full, int stage, int tile, int kv_head, int batch) {
    using L = Layout<D>;
    const unsigned barrier = shared + full + 8 * stage;
    expect(barrier, L::TILE);
#pragma unroll
    for (int panel = 0; panel < L::PANELS; panel++)
        fetch(shared + tiles + stage * L::TILE + panel * L::PANEL, map, barrier, panel * 64, tile * BLOCK_N, kv_head, batch);
}
/* Starts the copies of an item's queries. */
template <int D> DEVICE void fetch_queries(unsigned shared, const Map &q, const Problem &p, const Item &item) {
    using L = Layout<D>;
    expect(shared + L::Q_FULL, L::QUERIES);
#pragma unroll
    for (int panel = 0; panel < L::PANELS; panel++) {
        fetch(shared + panel * L::Q_PANEL, q, shared + L::Q_FULL, panel * 64, item.first, item.head, item.batch);
        if (FOLD)
            fetch(shared + panel * L::Q_PANEL + RUN * 128, q, shared + L::Q_FULL, panel * 64, item.half(p, 1), item.head,
                  item.batch);
    }
}
#endif

#if !COPY_threads && !PRODUCER_none
template <int D>
DEVICE void produce(unsigned shared, Item *slot, const Problem &p, const Map &q, const Map &k, const Map &v) {
    using L = Layout<D>;
    Ring ring;
    unsigned parity = 1; /* of the queries' place: free at first */
    Queue queue = Queue::make(p);
    while (!queue.empty()) {
        const Item item = decode<D>(p, queue.at);
        const int kv_head = p.h == p.hk ? item.head : item.head / (p.h / p.hk);
        wait(shared + L::Q_EMPTY, parity);
        parity ^= 1;
#if !SCHEDULE_single
        *slot = item;
#endif
        fetch_queries<D>(shared, q, p, item);
        if (item.tiles == 0) queue.next(p.causal);
#pragma unroll 1
        for (int tile = 0; tile < item.tiles; tile++, ring.next()) {
            if (tile == item.tiles - 1) queue.next(p.causal); /* the answer arrives while the last copies run */
            wait(shared + L::K_EMPTY + 8 * ring.stage, ring.phase ^ 1);
            fetch_tile<D>(shared, k, L::K, L::K_FULL, ring.stage, tile, kv_head, item.batch);
            wait(shared + L::V_EMPTY + 8 * ring.stage, ring.phase ^ 1);
            fetch_tile<D>(shared, v, L::V, L::V_FULL, ring.stage, tile, kv_head, item.batch);
        }
    }
#if !SCHEDULE_single
    wait(shared + L::Q_EMPTY, parity);
    slot->first = -1;
    arrive(shared + L::Q_FULL);
#endif
    queue.end();
}
#endif

/* What a thread keeps for its two rows, 8 apart. */
struct Rows {
    float most[2];  /* what the sums are relative to: an exponent of two, as are scores once scaled */
    float total[2]; /* of the thread's own columns */
};

/* Hides keys from `limit` on, for each of the two rows; `limit` counts from the tile's first key. */
DEVICE void mask(float (&s)[BLOCK_N / 2], int limit0, int limit1) {
    const int left = threadIdx.x % 4 * 2;
    limit0 -= left;
    limit1 -= left;
#pragma unroll
    for (int i = 0; i < BLOCK_N / 2; i++)
        if (i / 4 * 8 + i % 2 >= (i / 2 % 2 ? limit1 : limit0)) s[i] = -INFINITE;
}

/* Whether a tile's scores have risen too far above what the sums are relative to; if so, new maxima, and factors by which o
 * must be multiplied. The answer is the same for all lanes of a warp. Lanes look at their own columns only, and exchange
 * maxima only when one has risen. */
DEVICE bool settle(Rows &rows, float (&shrink)[2], const float (&s)[BLOCK_N / 2], float scale) {
    float most[2];
    bool risen = false;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float a = s[2 * r], b = s[2 * r + 1];
#pragma unroll
        for (int j = 1; j < BLOCK_N / 8; j++) {
            a = fmaxf(a, s[4 * j + 2 * r]);
            b = fmaxf(b, s[4 * j + 2 * r + 1]);
        }
        most[r] = fmaxf(a, b) * scale;
        risen |= !(most[r] <= rows.most[r] + SLACK); /* in this form true of the first tile too */
    }
    if (!any_lane(risen)) return false;
#pragma unroll
    for (int bit = 1; bit <= 2; bit *= 2)
#pragma unroll
        for (int r = 0; r < 2; r++) most[r] = fmaxf(most[r], from_lane(most[r], bit));
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float now = fmaxf(most[r], rows.most[r]);
        shrink[r] = power(rows.most[r] - now);
        rows.most[r] = now;
        rows.total[r] *= shrink[r];
    }
    return true;
}

/* Probabilities in place of scores `from` up to `to`, and their sums. */
DEVICE void soften(Rows &rows, float (&s)[BLOCK_N / 2], float scale, int from, int to) {
#pragma unroll
    for (int i = from; i < to; i++) {
        const int r = i / 2 % 2;
        const float x = __fmaf_rn(s[i], scale, -rows.most[r]);
        /* Spread evenly over the tile. */
        s[i] = (i + 1) * POLY / 16 > i * POLY / 16 ? power_fma(x) : power(x);
        rows.total[r] += s[i];
    }
}

/* Probabilities rounded for the next product. */
DEVICE void pack(unsigned (&p)[BLOCK_N / 4], const float (&s)[BLOCK_N / 2], int from, int to) {
#pragma unroll
    for (int i = from / 2; i < to / 2; i++) p[i] = rounded(s[2 * i], s[2 * i + 1]);
}

/* o times a factor for each row. */
template <int D> DEVICE void rescale(float (&o)[D / 2], const float (&shrink)[2]) {
#pragma unroll
    for (int i = 0; i < D / 2; i++) o[i] *= shrink[i / 2 % 2];
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

/* A warp's 16 rows of o and lse; of o, eight columns FROM up to TO, and lse with the first. Four lanes exchange theirs, so that
 * each stores eight columns at once. `count`: how many rows there are from the warp's first; `unseen`: how many of them, from
 * the first, see no key. */
template <int D, int FROM, int TO>
DEVICE void store(const float (&o)[D / 2], const Rows &rows, T *to, long long stride, float *lse, int count, int unseen) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float total = rows.total[r];
        total += from_lane(total, 1);
        total += from_lane(total, 2);
        const int row = r * 8 + lane / 4;
        const bool sees = row >= unseen;
        const float part = __fdividef(1.0f, total);
        if (FROM == 0 && lse && lane % 4 == 0 && row < count) lse[row] = sees ? (rows.most[r] + __log2f(total)) * LN2 : -INFINITE;
#pragma unroll
        for (int j = FROM; j < TO; j += 4) {
            unsigned v[4];
#pragma unroll
            for (int t = 0; t < 4; t++) {
                const float *c = &o[4 * (j + t) + 2 * r];
                v[t] = rounded(sees ? c[0] * part : 0.0f, sees ? c[1] * part : 0.0f);
            }
            transpose(v, lane);
            if (row < count) store_chunk(to + row * stride + (j + lane % 4) * 8, v);
        }
    }
}

/* Where a consumer warpgroup stores. */
struct Output {
    T *o;
    float *lse;
    long long batch, head, row;
};

#if SPLIT > 1
/* Adds to columns FROM up to TO (in eights) what the other warpgroups of the team have found, all relative to the largest of
 * their maxima, and stores them. */
template <int D, int FROM, int TO>
DEVICE void gather(float (&o)[D / 2], Rows rows, unsigned shares, int part, T *to, long long stride, float *lse, int count,
                   int unseen) {
    using L = Layout<D>;
    const unsigned own = threadIdx.x % GROUP * 16;
    float4 other[SPLIT - 1];
#pragma unroll
    for (int i = 1; i < SPLIT; i++) other[i - 1] = get(shares + (part + i) % SPLIT * TEAMS * L::SHARE + D / 8 * GROUP * 16 + own);
    float most[2] = {rows.most[0], rows.most[1]};
#pragma unroll
    for (int i = 1; i < SPLIT; i++) most[0] = fmaxf(most[0], other[i - 1].x), most[1] = fmaxf(most[1], other[i - 1].y);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float shrink = power(rows.most[r] - most[r]);
        rows.total[r] *= shrink;
        rows.most[r] = most[r];
#pragma unroll
        for (int j = FROM; j < TO; j++) o[4 * j + 2 * r] *= shrink, o[4 * j + 2 * r + 1] *= shrink;
    }
#pragma unroll
    for (int i = 1; i < SPLIT; i++) {
        const unsigned from = shares + (part + i) % SPLIT * TEAMS * L::SHARE + own;
        const float a = power(other[i - 1].x - most[0]), b = power(other[i - 1].y - most[1]);
        rows.total[0] = __fmaf_rn(other[i - 1].z, a, rows.total[0]);
        rows.total[1] = __fmaf_rn(other[i - 1].w, b, rows.total[1]);
#pragma unroll
        for (int j = FROM; j < TO; j++) {
            const float4 v = get(from + j * GROUP * 16);
            o[4 * j] = __fmaf_rn(v.x, a, o[4 * j]);
            o[4 * j + 1] = __fmaf_rn(v.y, a, o[4 * j + 1]);
            o[4 * j + 2] = __fmaf_rn(v.z, b, o[4 * j + 2]);
            o[4 * j + 3] = __fmaf_rn(v.w, b, o[4 * j + 3]);
        }
    }
    store<D, FROM, TO>(o, rows, to, stride, lse, count, unseen);
}
template <int D, int STORER>
DEVICE void gather_own(float (&o)[D / 2], const Rows &rows, unsigned shares, int part, T *to, long long stride, float *lse,
                       int count, int unseen) {
    constexpr int EACH = D / 8 / Layout<D>::STORERS;
    if constexpr (STORER < Layout<D>::STORERS) {
        if (part == STORER)
            gather<D, STORER * EACH, (STORER + 1) * EACH>(o, rows, shares, part, to, stride, lse, count, unseen);
        else
            gather_own<D, STORER + 1>(o, rows, shares, part, to, stride, lse, count, unseen);
    }
}
#endif

/* Stores a warpgroup's 64 queries from `first` on, or its share of them. */
template <int D>
DEVICE void finish(unsigned shared, float (&o)[D / 2], const Rows &rows, const Problem &p, const Item &item, int first,
                   int warp, int team, int part, const Output &out) {
    using L = Layout<D>;
    const int row = first + warp % 4 * 16; /* the warp's first */
    const int unseen = p.causal ? p.sq - p.sk - row : 0;
    T *to = out.o + item.batch * out.batch + item.head * out.head + row * out.row;
    float *lse = out.lse ? out.lse + (long long)(item.batch * p.h + item.head) * p.sq + row : nullptr;
#if SPLIT > 1
    constexpr int EACH = D / 8 / L::STORERS;
    const unsigned shares = shared + L::EXCHANGE + team * L::SHARE;
    const unsigned mine = shares + part * TEAMS * L::SHARE + threadIdx.x % GROUP * 16;
#pragma unroll
    for (int j = 0; j < D / 8; j++)
        if (j / EACH != part) put(mine + j * GROUP * 16, o[4 * j], o[4 * j + 1], o[4 * j + 2], o[4 * j + 3]);
    put(mine + D / 8 * GROUP * 16, rows.most[0], rows.most[1], rows.total[0], rows.total[1]);
    team_wait(1 + team, GROUP * SPLIT);
    gather_own<D, 0>(o, rows, shares, part, to, out.row, lse, p.sq - row, unseen);
#if !SCHEDULE_single
    team_wait(1 + team, GROUP * SPLIT); /* the next item's shares come to the same place */
#endif
#else
    store<D, 0, D / 8>(o, rows, to, out.row, lse, p.sq - row, unseen);
#endif
}

#if !COPY_threads
template <int D>
DEVICE void consume(unsigned shared, const Item *slot, const Problem &p, float scale, const Map &k, const Map &v,
                    const Output &out) {
    using L = Layout<D>;
    const int lane = threadIdx.x % 32;
    const int warp = __shfl_sync(0xffffffffu, int(threadIdx.x) / 32, 0), group = warp / 4;
    const int team = SPLIT == 1 ? group : group % TEAMS, part = SPLIT == 1 ? 0 : group / TEAMS;
    const u64 queries = describe(shared + team * 64 * 128, 1);
    const u64 keys = describe(shared + L::K, 1), values = describe(shared + L::V, BLOCK_N * 8);
    const bool speaks = lane == 0; /* for its warp, at barriers */
    scale = above_zero(scale * LOG2E);

    float s[BLOCK_N / 2], o[D / 2];
    unsigned prob[BLOCK_N / 4];
#if Q_IN_REGS
    unsigned left[D / 4];
#endif
    Ring at_k, at_v;
    at_k.stage = at_v.stage = part;
#if !SCHEDULE_single
    unsigned parity = 0; /* of the queries */
#endif

    auto wait_k = [&] { wait(shared + L::K_FULL + 8 * at_k.stage, at_k.phase); };
    auto wait_v = [&] { wait(shared + L::V_FULL + 8 * at_v.stage, at_v.phase); };
#if PRODUCER_none
    const Item item = decode<D>(p, 0);
    const int kv_head = p.h == p.hk ? item.head : item.head / (p.h / p.hk);
    const bool refills = threadIdx.x % GROUP == 0 && team == 0; /* for its part */
    int next_k = part + STAGES, next_v = part + STAGES;         /* the tiles that come to where the current ones are */
#endif
    auto release_k = [&] {
        if (speaks) arrive(shared + L::K_EMPTY + 8 * at_k.stage);
#if PRODUCER_none
        if (refills && next_k < item.tiles) {
            wait(shared + L::K_EMPTY + 8 * at_k.stage, at_k.phase);
            fetch_tile<D>(shared, k, L::K, L::K_FULL, at_k.stage, next_k, kv_head, item.batch);
        }
        next_k += SPLIT;
#endif
        at_k.skip();
    };
    auto release_v = [&] {
        if (speaks) arrive(shared + L::V_EMPTY + 8 * at_v.stage);
#if PRODUCER_none
        if (refills && next_v < item.tiles) {
            wait(shared + L::V_EMPTY + 8 * at_v.stage, at_v.phase);
            fetch_tile<D>(shared, v, L::V, L::V_FULL, at_v.stage, next_v, kv_head, item.batch);
        }
        next_v += SPLIT;
#endif
        at_v.skip();
    };
    auto release_q = [&] {
        arrive(shared + L::Q_EMPTY); /* each lane for itself: it has read its item, and its queries where they are in registers */
    };
    auto turn_begin = [&] {
        if (PINGPONG && CONSUMERS > 1) turn_wait(1 + group);
    };
    auto turn_end = [&] {
        if (PINGPONG && CONSUMERS > 1) turn_pass(1 + (group + 1) % CONSUMERS);
    };
    auto start_scores = [&] {
        const u64 tile = keys + at_k.stage * (L::TILE >> 4);
        hold(s);
        multiply_begin();
#pragma unroll
        for (int step = 0; step < D / 16; step++) {
            const u64 b = tile + step / 4 * (L::PANEL >> 4) + step % 4 * 2;
#if Q_IN_REGS
            Product<BLOCK_N>::keys(s, left + 4 * step, b, step > 0);
#else
            Product<BLOCK_N>::keys(s, queries + step / 4 * (L::Q_PANEL >> 4) + step % 4 * 2, b, step > 0);
#endif
        }
        multiply_commit();
    };
    auto start_output = [&] {
        const u64 tile = values + at_v.stage * (L::TILE >> 4);
        hold(o);
        hold(prob);
        multiply_begin();
#pragma unroll
        for (int step = 0; step < BLOCK_N / 16; step++) Product<D>::values(o, prob + 4 * step, tile + step * 128);
        multiply_commit();
    };

    if (PINGPONG && CONSUMERS > 1 && group == CONSUMERS - 1) turn_end(); /* the first turn is the first group's */
#if SCHEDULE_single
    {
#else
    while (true) {
#endif
#if SCHEDULE_single
#if !PRODUCER_none
        const Item item = decode<D>(p, 0);
#endif
        wait(shared + L::Q_FULL, 0);
#else
        wait(shared + L::Q_FULL, parity);
        parity ^= 1;
        const Item item = *slot;
        if (item.first < 0) break;
#endif
        const int first = item.start(p, team); /* the warpgroup's first query */
        const int tiles = first < p.sq ? p.tiles(first + 63) : 0, whole = p.whole(first);
        Rows rows;
        float shrink[2];
#pragma unroll
        for (int r = 0; r < 2; r++) rows.most[r] = LEAST, rows.total[r] = 0.0f;
#pragma unroll
        for (int i = 0; i < D / 2; i++) o[i] = 0.0f;
#if Q_IN_REGS
        {
            const int row = team * 64 + warp % 4 * 16 + lane % 16;
            const unsigned from = shared + row * 128;
#pragma unroll
            for (int step = 0; step < D / 16; step++)
                load_matrices(left + 4 * step,
                              from + step / 4 * L::Q_PANEL + ((step % 4 * 2 + lane / 16) ^ (row & 7)) * 16);
            release_q();
        }
#endif
        auto hide = [&](int tile) {
            if (tile < whole) return;
            const int row = first + warp % 4 * 16 + lane / 4, end = row + 1 + p.sk - p.sq, start = tile * BLOCK_N;
            mask(s, (p.causal && end < p.sk ? end : p.sk) - start, (p.causal && end + 8 < p.sk ? end + 8 : p.sk) - start);
        };
        int tile = part;
#if OVERLAP
        if (tiles > part) {
            wait_k();
            turn_begin();
            start_scores();
            turn_end();
            multiply_wait<0>();
            hold(s);
            release_k();
            hide(part);
            settle(rows, shrink, s, scale);
            soften(rows, s, scale, 0, BLOCK_N / 2);
            pack(prob, s, 0, BLOCK_N / 2);
            if (tiles > part + SPLIT) wait_k();
#pragma unroll 1
            for (tile = part + SPLIT; tile < tiles; tile += SPLIT) {
                turn_begin();
                start_scores();
                wait_v();
                start_output();
                turn_end();
                multiply_wait<1>();
                hold(s);
                release_k();
                hide(tile);
                const bool scaled = settle(rows, shrink, s, scale);
                soften(rows, s, scale, 0, EARLY);
                hold(s);
                /* Here and not at the loop's begin: the compiler moves no exponential across its branch, and would wait for
                 * the product of p and v before most of them. */
                if (tile + SPLIT < tiles) wait_k();
                multiply_wait<0>();
                hold(o);
                hold(prob);
                release_v();
                if (scaled) rescale<D>(o, shrink);
                /* Rounding needs the registers of the product, and runs beside the other exponentials. */
                pack(prob, s, 0, EARLY);
                soften(rows, s, scale, EARLY, BLOCK_N / 2);
                pack(prob, s, EARLY, BLOCK_N / 2);
            }
#if !Q_IN_REGS
            release_q();
#endif
            wait_v();
            start_output();
            multiply_wait<0>();
            hold(o);
            release_v();
        }
#else
#pragma unroll 1
        for (; tile < tiles; tile += SPLIT) {
            wait_k();
            turn_begin();
            start_scores();
            turn_end();
            multiply_wait<0>();
            hold(s);
            release_k();
            hide(tile);
            if (settle(rows, shrink, s, scale)) rescale<D>(o, shrink);
            soften(rows, s, scale, 0, BLOCK_N / 2);
            pack(prob, s, 0, BLOCK_N / 2);
            wait_v();
            start_output();
            multiply_wait<0>();
            hold(o);
            release_v();
        }
#if !Q_IN_REGS
        if (tiles > part) release_q();
#endif
#endif
#if !Q_IN_REGS
        if (tiles <= part) release_q();
#endif
        /* Tiles that only later queries of the block see. */
#pragma unroll 1
        for (; tile < item.tiles; tile += SPLIT) {
            wait_k();
            turn_begin();
            turn_end();
            release_k();
            wait_v();
            release_v();
        }
        finish<D>(shared, o, rows, p, item, first, warp, team, part, out);
    }
    if (PINGPONG && CONSUMERS > 1 && group == 0) turn_begin(); /* nothing stays behind */
}
#else
/* Where a warpgroup reads. */
struct Input {
    const T *q, *k, *v;
    long long q_batch, q_head, q_row, kv_batch, kv_head, kv_row;
};

/* Copies ROWS rows of D columns by the threads of a warpgroup; those from `count` on are zeros. */
template <int D, int ROWS> DEVICE void copy_rows(unsigned to, const T *from, long long stride, int count) {
    constexpr int CHUNKS = D / 8, STEP = GROUP / CHUNKS;
    const int chunk = threadIdx.x % CHUNKS, first = threadIdx.x % GROUP / CHUNKS;
#pragma unroll
    for (int i = 0; i < ROWS / STEP; i++) {
        const int row = first + i * STEP;
        const bool there = row < count;
        copy_chunk(to + chunk / 8 * ROWS * 128 + row * 128 + (chunk % 8 ^ row % 8) * 16,
                   there ? from + row * stride + chunk * 8 : from, there);
    }
}

/* A warpgroup on its own: it copies its queries and tiles, up to STAGES of them ahead, and finishes one before the next. */
template <int D> DEVICE void direct(unsigned shared, const Problem &p, float scale, const Input &in, const Output &out) {
    using L = Layout<D>;
    const int lane = threadIdx.x % 32;
    const int warp = __shfl_sync(0xffffffffu, int(threadIdx.x) / 32, 0), group = warp / 4;
    const int team = SPLIT == 1 ? group : group % TEAMS, part = SPLIT == 1 ? 0 : group / TEAMS;
    const unsigned own = shared + group * L::OWN;
    const Item item = decode<D>(p, 0);
    const int kv_head = p.h == p.hk ? item.head : item.head / (p.h / p.hk);
    const int first = item.start(p, team);
    const int tiles = first < p.sq ? p.tiles(first + 63) : 0, whole = p.whole(first);
    const T *k = in.k + item.batch * in.kv_batch + kv_head * in.kv_head;
    const T *v = in.v + item.batch * in.kv_batch + kv_head * in.kv_head;
    auto copy = [&](int tile, int stage, const T *from, unsigned to) {
        if (tile < tiles)
            copy_rows<D, BLOCK_N>(own + to + stage * L::TILE, from + (long long)tile * BLOCK_N * in.kv_row, in.kv_row,
                                  p.sk - tile * BLOCK_N);
        copy_commit(); /* also of nothing, so that the number of those under way is known */
    };
    if (tiles > part)
        copy_rows<D, 64>(own, in.q + item.batch * in.q_batch + item.head * in.q_head + first * in.q_row, in.q_row, p.sq - first);
#pragma unroll
    for (int stage = 0; stage < STAGES; stage++) {
        copy(part + stage * SPLIT, stage, k, L::K);
        copy(part + stage * SPLIT, stage, v, L::V);
    }
    scale = above_zero(scale * LOG2E);
    float s[BLOCK_N / 2], o[D / 2], shrink[2];
    unsigned prob[BLOCK_N / 4];
    Rows rows;
#pragma unroll
    for (int r = 0; r < 2; r++) rows.most[r] = LEAST, rows.total[r] = 0.0f;
#pragma unroll
    for (int i = 0; i < D / 2; i++) o[i] = 0.0f;
    int stage = 0;
#pragma unroll 1
    for (int tile = part; tile < tiles; tile += SPLIT) {
        copy_wait<2 * STAGES - 1>();
        team_wait(5 + group, GROUP);
        const u64 queries = describe(own, 1), keys = describe(own + L::K + stage * L::TILE, 1);
        const u64 values = describe(own + L::V + stage * L::TILE, BLOCK_N * 8);
        hold(s);
        multiply_begin();
#pragma unroll
        for (int step = 0; step < D / 16; step++)
            Product<BLOCK_N>::keys(s, queries + step / 4 * (L::OWN_PANEL >> 4) + step % 4 * 2,
                                   keys + step / 4 * (L::PANEL >> 4) + step % 4 * 2, step > 0);
        multiply_commit();
        multiply_wait<0>();
        hold(s);
        if (tile >= whole) {
            const int row = first + warp % 4 * 16 + lane / 4, end = row + 1 + p.sk - p.sq, start = tile * BLOCK_N;
            mask(s, (p.causal && end < p.sk ? end : p.sk) - start, (p.causal && end + 8 < p.sk ? end + 8 : p.sk) - start);
        }
        if (settle(rows, shrink, s, scale)) rescale<D>(o, shrink);
        soften(rows, s, scale, 0, BLOCK_N / 2);
        pack(prob, s, 0, BLOCK_N / 2);
        copy_wait<2 * STAGES - 2>();
        team_wait(5 + group, GROUP);
        hold(o);
        hold(prob);
        multiply_begin();
#pragma unroll
        for (int step = 0; step < BLOCK_N / 16; step++) Product<D>::values(o, prob + 4 * step, values + step * 128);
        multiply_commit();
        multiply_wait<0>();
        hold(o);
        if (tile + STAGES * SPLIT < tiles) team_wait(5 + group, GROUP); /* everybody has read what is overwritten next */
        copy(tile + STAGES * SPLIT, stage, k, L::K);
        copy(tile + STAGES * SPLIT, stage, v, L::V);
        if (++stage == STAGES) stage = 0;
    }
    finish<D>(shared, o, rows, p, item, first, warp, team, part, out);
}
#endif

template <int D>
__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    attention_hopper_forward(const T *q_at, const T *k_at, const T *v_at, T *__restrict__ o, float *__restrict__ lse,
                             const __grid_constant__ Map q, const __grid_constant__ Map k,
                             const __grid_constant__ Map v, float scale, int causal, long long b, long long h,
                             long long hk, long long queries, long long keys, long long q_batch, long long q_head,
                             long long q_row, long long kv_batch, long long kv_head, long long kv_row, long long o_batch,
                             long long o_head, long long o_row) {
    extern __shared__ __align__(1024) unsigned char memory[];
    using L = Layout<D>;
    const unsigned shared = unsigned(__cvta_generic_to_shared(memory));
    Problem p;
    p.causal = causal;
    p.b = int(b);
    p.h = int(h);
    p.hk = int(hk);
    p.sq = int(queries);
    p.sk = int(keys);
    p.q_tiles = (p.sq + BLOCK_M - 1) / BLOCK_M;
#if COPY_threads
    direct<D>(shared, p, scale, Input{q_at, k_at, v_at, q_batch, q_head, q_row, kv_batch, kv_head, kv_row},
              Output{o, lse, o_batch, o_head, o_row});
#else
    Item *slot = reinterpret_cast<Item *>(memory + L::ITEM);
#if PRODUCER_none
    constexpr int STARTS = 0; /* the thread that starts the first copies */
#else
    constexpr int STARTS = CONSUMERS * GROUP;
#endif
    if (threadIdx.x == STARTS) {
        prefetch(q);
        prefetch(k);
        prefetch(v);
    }
    if (threadIdx.x == 0) {
        init_barrier(shared + L::Q_FULL, 1);
        init_barrier(shared + L::Q_EMPTY, GROUP * CONSUMERS);
#pragma unroll
        for (int stage = 0; stage < STAGES; stage++) {
            init_barrier(shared + L::K_FULL + 8 * stage, 1);
            init_barrier(shared + L::K_EMPTY + 8 * stage, 4 * TEAMS);
            init_barrier(shared + L::V_FULL + 8 * stage, 1);
            init_barrier(shared + L::V_EMPTY + 8 * stage, 4 * TEAMS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
#if PRODUCER_none
        const Item item = decode<D>(p, 0);
        const int kv_head = p.h == p.hk ? item.head : item.head / (p.h / p.hk);
        fetch_queries<D>(shared, q, p, item);
#pragma unroll
        for (int stage = 0; stage < STAGES; stage++)
            if (stage < item.tiles) {
                fetch_tile<D>(shared, k, L::K, L::K_FULL, stage, stage, kv_head, item.batch);
                fetch_tile<D>(shared, v, L::V, L::V_FULL, stage, stage, kv_head, item.batch);
            }
#endif
    }
    __syncthreads();

#if PRODUCER_none
    consume<D>(shared, slot, p, scale, k, v, Output{o, lse, o_batch, o_head, o_row});
#else
    if (threadIdx.x >= CONSUMERS * GROUP) {
        if (!LONE) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(PRODUCER_REGS));
        if (threadIdx.x == CONSUMERS * GROUP) produce<D>(shared, slot, p, q, k, v);
    } else {
        if (!LONE) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(CONSUMER_REGS));
        consume<D>(shared, slot, p, scale, k, v, Output{o, lse, o_batch, o_head, o_row});
    }
#endif
#endif
}
