/* c = a b for row-major bf16 matrices, summed in f32, for Hopper (sm_90a): TMA copies, mbarriers and wgmma.
 *
 * A block owns BLOCK_M x BLOCK_N of c at a time. One producer thread copies tiles of a and b, BLOCK_K deep, into a ring of
 * STAGES. CONSUMERS warpgroups multiply: each owns 64 * TALL rows of the tile and keeps their sums in registers. Resident
 * blocks walk over the tiles of c, so that the copies for the next tile run while the last one is stored.
 *
 * PENDING: of a warpgroup's products, those of so many tiles may still run when the next ones start.
 * PINGPONG: each warpgroup has a tile of its own; one stores while another multiplies.
 * CLUSTER_M, CLUSTER_N: blocks of a cluster own neighbouring tiles, CLUSTER_M below each other and CLUSTER_N side by side.
 *   Those below each other need the same tile of b: each copies a part of it to all of them. So do neighbours with a.
 * SPLIT: where tiles leave much of the last round idle, blocks first share those of the last rounds evenly, each with its share
 *   of the steps. What a block has of a tile that another begins goes to that one as sums in f32, through the memory `partial`. The
 *   flags for it return to zero: two launches of the same module must not run at the same time.
 * GROUP_M: the order of tiles. Blocks that run at the same time share rows of a and columns of b in the L2 cache: GROUP_M
 *   tiles (of a cluster) high.
 * STORE_BUFFERS: a warp rounds 16 x 64 of its sums into a buffer in shared memory, and TMA stores it while the warp goes on;
 *   so many buffers for each warp. 0: stores from registers.
 *
 * TMA needs rows that begin at multiples of 16 bytes. Where k or n is no multiple of 8, the producer warps copy element by
 * element, and the descriptors are not used. */
#include <cuda_bf16.h>

/* Without a tuner: the default of kernel.toml. */
#ifndef BLOCK_N
#define T __nv_bfloat16
#define CONSUMERS 2
#define TALL 1
#define BLOCK_N 256
#define BLOCK_K 64
#define STAGES 4
#define PENDING 1
#define PINGPONG 0
#define CLUSTER_M 2
#define CLUSTER_N 1
#define GROUP_M 8
#define STORE_BUFFERS 2
#define MIN_BLOCKS 1
#define SPLIT 1
#endif

#define DEVICE static __device__ __forceinline__

typedef unsigned long long u64;

constexpr int GROUP = 128; /* threads of a warpgroup */
constexpr int OWNERS = PINGPONG ? 1 : CONSUMERS; /* warpgroups that share a tile */
constexpr int BLOCK_M = 64 * TALL * OWNERS;
constexpr int CLUSTER = CLUSTER_M * CLUSTER_N;
/* Beside one consumer, the producer is a single warp. Beside more it is a warpgroup, which gives its registers to them. */
constexpr bool LONE = CONSUMERS == 1;
constexpr int PRODUCERS = LONE ? 32 : GROUP;
constexpr int THREADS = CONSUMERS * GROUP + PRODUCERS;
/* Together not more than the block begins with: 168 a thread for two consumers, 128 for three. */
constexpr int PRODUCER_REGS = CONSUMERS == 3 ? 32 : 40;
constexpr int CONSUMER_REGS = CONSUMERS == 3 ? 160 : 232;

/* Shared memory: tiles of a and b in panels of 64 columns, whose rows of 128 bytes are swizzled by TMA as wgmma expects
 * them; buffers for c; barriers. */
constexpr int A_PANEL = BLOCK_M * 128, A_TILE = BLOCK_K / 64 * A_PANEL;
constexpr int B_PANELS = BLOCK_N / 64, B_PANEL = BLOCK_K * 128, B_TILE = B_PANELS * B_PANEL;
constexpr int STAGE = A_TILE + B_TILE;
constexpr int C_BUFFER = 16 * 128;
constexpr int C = STAGES * STAGE, FULL = C + 4 * CONSUMERS * STORE_BUFFERS * C_BUFFER, EMPTY = FULL + 8 * STAGES;
/* SPLIT: to hand over the sums of a tile costs about as much as so many steps. */
constexpr int COST = 16;
/* What a block copies of a tile that others need too. */
constexpr int A_PART = BLOCK_M / CLUSTER_N, B_PART = B_PANELS / CLUSTER_M;

static_assert(CONSUMERS >= 1 && CONSUMERS <= 3, "up to three consumers fit the register file");
static_assert(BLOCK_N % 64 == 0 && BLOCK_N <= 256, "whole panels; a wgmma has at most 256 columns");
static_assert(BLOCK_K % 64 == 0 && BLOCK_K <= 256, "whole panels; a box has at most 256 rows");
static_assert(A_PART % 8 == 0 && A_PART <= 256 && B_PANELS % CLUSTER_M == 0, "blocks of a cluster copy equal parts");
static_assert(MIN_BLOCKS == 1 || LONE, "more consumers take all registers");
static_assert(!PINGPONG || CONSUMERS > 1, "turns need another to take turns with");
static_assert(STAGES <= 12, "barriers of twelve stages");

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
/* At the same barrier of a block of the cluster. Not `.release.cluster`, which would wait for all of the thread's stores: what
 * it reports is the end of wgmma's reads. */
DEVICE void arrive_at(unsigned barrier, int block) {
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}\n" ::"r"(barrier),
                 "r"(block)
                 : "memory");
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
/* A box from the given column and row, into this block or into all blocks of the mask at the same place. */
template <bool SHARED>
DEVICE void fetch(unsigned to, const Map &map, unsigned barrier, int column, int row, unsigned short blocks) {
    if (SHARED)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;\n" ::"r"(to),
                     "l"(&map), "r"(barrier), "r"(column), "r"(row), "h"(blocks)
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                     "[%1, {%3, %4}], [%2];\n" ::"r"(to),
                     "l"(&map), "r"(barrier), "r"(column), "r"(row)
                     : "memory");
}
DEVICE void prefetch(const Map &map) { asm volatile("prefetch.tensormap [%0];\n" ::"l"(&map) : "memory"); }
/* What ordinary stores wrote into shared memory, before TMA or wgmma reads it. */
DEVICE void publish() { asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); }

DEVICE void multiply_begin() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
DEVICE void multiply_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
template <int LEFT> DEVICE void multiply_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(LEFT) : "memory");
}
/* Registers of products that run: nothing that touches them moves across this line. */
template <int N> DEVICE void hold(float (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(x[i])::"memory");
}
#if PINGPONG
DEVICE void turn_wait(int barrier) { asm volatile("bar.sync %0, 256;\n" ::"r"(barrier) : "memory"); }
DEVICE void turn_pass(int barrier) { asm volatile("bar.arrive %0, 256;\n" ::"r"(barrier) : "memory"); }
#endif
#if SPLIT
DEVICE void group_meet(int group) { asm volatile("bar.sync %0, 128;\n" ::"r"(4 + group) : "memory"); }
#endif
DEVICE void producers_meet() { asm volatile("bar.sync 7, %0;\n" ::"n"(PRODUCERS) : "memory"); }
DEVICE void cluster_meet() {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}
DEVICE int cluster_rank() {
    int rank = 0;
    if (CLUSTER > 1) asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
    return rank;
}

DEVICE unsigned rounded(float low, float high) {
    unsigned pair;
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
#if STORE_BUFFERS
/* Four 8 x 8 matrices, one row of one of them from each lane's address. */
DEVICE void store_matrices(unsigned to, const unsigned (&v)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(to), "r"(v[0]), "r"(v[1]),
                 "r"(v[2]), "r"(v[3])
                 : "memory");
}
DEVICE void store_box(const Map &map, unsigned from, int column, int row) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];\n"
                 "cp.async.bulk.commit_group;\n" ::"l"(&map),
                 "r"(from), "r"(column), "r"(row)
                 : "memory");
}
/* Until all but LEFT of the thread's boxes have been read. */
template <int LEFT> DEVICE void boxes_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;\n" ::"n"(LEFT) : "memory");
}
#else
DEVICE void store_chunk(T *to, const unsigned (&v)[4]) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}
#endif

/* wgmma for 64 rows and N columns, 16 deep. The accumulator is N / 2 registers of each thread. */
#define R0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define R1 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define R2 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define R3 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define R4 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define R5 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define R6 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define R7 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define L32 R0 ", " R1
#define L64 L32 ", " R2 ", " R3
#define L96 L64 ", " R4 ", " R5
#define L128 L96 ", " R6 ", " R7
#define F8(i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define F32 F8(0), F8(8), F8(16), F8(24)
#define F64 F32, F8(32), F8(40), F8(48), F8(56)
#define F96 F64, F8(64), F8(72), F8(80), F8(88)
#define F128 F96, F8(96), F8(104), F8(112), F8(120)

template <int N> struct Product;
/* H = N / 2 registers, and the numbers of the operands after them. Depth runs along the rows of a, and across those of b. */
#define PRODUCT(N, H, H1, H2)                                                                                          \
    template <> struct Product<N> {                                                                                    \
        DEVICE void add(float (&d)[H], u64 a, u64 b, int add) {                                                        \
            asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #H2 ", 0;\n"                                         \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" L##H "}, %" #H ", %" #H1         \
                         ", add, 1, 1, 0, 1;\n}\n"                                                                     \
                         : F##H                                                                                        \
                         : "l"(a), "l"(b), "r"(add)                                                                    \
                         : "memory");                                                                                  \
        }                                                                                                              \
    };
PRODUCT(64, 32, 33, 34)
PRODUCT(128, 64, 65, 66)
PRODUCT(192, 96, 97, 98)
PRODUCT(256, 128, 129, 130)

/* End of instructions. */

/* What wgmma is told about a matrix in shared memory: address, distance of panels (or 1 where there is one), 1024 bytes from
 * eight rows to the next eight, swizzle of 128 bytes. In a cluster, bits from 24 on of an address say whose memory it is; wgmma
 * takes 18. */
DEVICE u64 describe(unsigned address, int panel) {
    return u64(1) << 62 | u64(64) << 32 | u64(panel) << 16 | (address & 0x3ffff) >> 4;
}

/* A place in a ring of stages. */
struct Ring {
    int stage = 0;
    unsigned phase = 0;
    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
    __device__ __forceinline__ void skip(int count) {
        const int to = stage + count;
        stage = to % STAGES;
        phase ^= to / STAGES & 1;
    }
};

/* Sizes, what follows from them, and the block's tiles: every stride-th of those of its cluster. */
struct Problem {
    int m, n, k;
    int high, wide, count; /* clusters' tiles of c */
    int steps;             /* tiles of a and b for each */
    int shared;            /* tiles that are split, the first ones */
    int first, stride, below, beside; /* number of the cluster, of all of them, the block's place in it */

    DEVICE Problem make(int m, int n, int k) {
        Problem p;
        p.m = m, p.n = n, p.k = k;
        p.high = (m + BLOCK_M * CLUSTER_M - 1) / (BLOCK_M * CLUSTER_M);
        p.wide = (n + BLOCK_N * CLUSTER_N - 1) / (BLOCK_N * CLUSTER_N);
        p.count = p.high * p.wide;
        p.steps = (k + BLOCK_K - 1) / BLOCK_K;
        const int rank = cluster_rank();
        p.first = int(blockIdx.x) / CLUSTER, p.stride = int(gridDim.x) / CLUSTER;
        p.below = rank % CLUSTER_M, p.beside = rank / CLUSTER_M;
        const int rest = p.count % p.stride;
        const bool pays = rest > 0 && (p.stride - rest) * p.steps > COST * p.stride;
        p.shared = SPLIT && pays ? rest + (p.count > p.stride ? p.stride : 0) : 0;
        return p;
    }
    /* The first step of cluster number `at` in the shared tiles, all steps counted through. */
    __device__ __forceinline__ int share(int at) const {
        const int all = shared * steps, rest = all % stride;
        return at * (all / stride) + (at < rest ? at : rest);
    }
    /* First row and column of tile number `at`. */
    __device__ __forceinline__ void place(int at, int &row, int &column) const {
        const int group = GROUP_M * wide, top = at / group * GROUP_M, within = at % group;
        const int height = high - top < GROUP_M ? high - top : GROUP_M;
        row = ((top + within % height) * CLUSTER_M + below) * BLOCK_M;
        column = (within / height * CLUSTER_N + beside) * BLOCK_N;
    }
    /* Whether rows of all matrices begin at multiples of 16 bytes. */
    __device__ __forceinline__ bool aligned() const { return n % 8 == 0 && k % 8 == 0; }
};

/* A tile, and the steps of it to do. */
struct Piece {
    int tile, from, to;
};

/* The block's pieces: its share of those that are split, then every stride-th tile. */
struct Walk {
    int step, end, tile;

    DEVICE Walk make(const Problem &p) { return {p.share(p.first), p.share(p.first + 1), p.shared + p.first}; }
    __device__ __forceinline__ bool next(const Problem &p, Piece &piece) {
        if (SPLIT && step < end) {
            piece.tile = step / p.steps;
            piece.from = step - piece.tile * p.steps;
            piece.to = end - step < p.steps - piece.from ? piece.from + end - step : p.steps;
            step += piece.to - piece.from;
            return true;
        }
        piece = {tile, 0, p.steps};
        tile += p.stride;
        return piece.tile < p.count;
    }
};

/* One thread starts all copies. */
DEVICE void produce(unsigned shared, const Problem &p, const Map &a, const Map &b) {
    unsigned short beside = 0, below = 0; /* blocks that need the same tile of a, of b */
#pragma unroll
    for (int i = 0; i < CLUSTER_N; i++) beside |= 1 << (i * CLUSTER_M + p.below);
#pragma unroll
    for (int i = 0; i < CLUSTER_M; i++) below |= 1 << (p.beside * CLUSTER_M + i);
    Ring ring;
    Walk walk = Walk::make(p);
    Piece piece;
    while (walk.next(p, piece)) {
        int row, column;
        p.place(piece.tile, row, column);
        row += p.beside * A_PART;
        column += p.below * B_PART * 64;
#pragma unroll 1
        for (int step = piece.from; step < piece.to; step++, ring.next()) {
            const unsigned full = shared + FULL + 8 * ring.stage, to = shared + ring.stage * STAGE;
            const unsigned to_a = to + p.beside * A_PART * 128, to_b = to + A_TILE + p.below * B_PART * B_PANEL;
            wait(shared + EMPTY + 8 * ring.stage, ring.phase ^ 1);
            expect(full, STAGE);
#pragma unroll
            for (int panel = 0; panel < BLOCK_K / 64; panel++)
                fetch<(CLUSTER_N > 1)>(to_a + panel * A_PANEL, a, full, step * BLOCK_K + panel * 64, row, beside);
#pragma unroll
            for (int panel = 0; panel < B_PART; panel++)
                fetch<(CLUSTER_M > 1)>(to_b + panel * B_PANEL, b, full, column + panel * 64, step * BLOCK_K, below);
        }
    }
}

/* A tile of HEIGHT rows and PANELS panels as TMA would write it, with zeros beyond `rows` and `columns`. */
template <int HEIGHT, int PANELS>
DEVICE void fill(unsigned char *to, const T *from, long long stride, int rows, int columns) {
#pragma unroll 1
    for (int i = threadIdx.x % PRODUCERS; i < HEIGHT * PANELS * 8; i += PRODUCERS) {
        const int row = i / (PANELS * 8), chunk = i % (PANELS * 8);
        const unsigned short *in = reinterpret_cast<const unsigned short *>(from + row * stride + chunk * 8);
        unsigned pair[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const unsigned low = row < rows && chunk * 8 + 2 * j < columns ? in[2 * j] : 0;
            const unsigned high = row < rows && chunk * 8 + 2 * j + 1 < columns ? in[2 * j + 1] : 0;
            pair[j] = low | high << 16;
        }
        *reinterpret_cast<uint4 *>(to + chunk / 8 * HEIGHT * 128 + row * 128 + (chunk % 8 ^ row % 8) * 16) =
            make_uint4(pair[0], pair[1], pair[2], pair[3]);
    }
}

/* The producer's threads together, for rows that begin anywhere. */
DEVICE void produce_plainly(unsigned char *memory, unsigned shared, const Problem &p, const T *a, const T *b) {
    Ring ring;
    Walk walk = Walk::make(p);
    Piece piece;
    while (walk.next(p, piece)) {
        int row, column;
        p.place(piece.tile, row, column);
#pragma unroll 1
        for (int step = piece.from; step < piece.to; step++, ring.next()) {
            const int done = step * BLOCK_K;
            unsigned char *to = memory + ring.stage * STAGE;
            wait(shared + EMPTY + 8 * ring.stage, ring.phase ^ 1);
            fill<BLOCK_M, BLOCK_K / 64>(to, a + (long long)row * p.k + done, p.k, p.m - row, p.k - done);
            fill<BLOCK_K, B_PANELS>(to + A_TILE, b + (long long)done * p.n + column, p.n, p.k - done, p.n - column);
            publish();
            producers_meet();
            if (threadIdx.x % PRODUCERS == 0) arrive(shared + FULL + 8 * ring.stage);
        }
    }
}

#if STORE_BUFFERS
/* By TMA, 64 columns at a time, through the warp's buffers in turn. It leaves out what lies beyond the matrix. */
DEVICE void store(const float (&sum)[BLOCK_N / 2], const Map &c, unsigned buffers, int &turn, int row, int column) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int panel = 0; panel < B_PANELS; panel++) {
        const unsigned buffer = buffers + turn * C_BUFFER;
        turn = turn + 1 == STORE_BUFFERS ? 0 : turn + 1;
        if (lane == 0) boxes_read<STORE_BUFFERS - 1>();
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            unsigned v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) v[i] = rounded(sum[4 * (panel * 8 + j) + 2 * i], sum[4 * (panel * 8 + j) + 2 * i + 1]);
            store_matrices(buffer + lane % 16 * 128 + ((j + lane / 16) ^ lane % 8) * 16, v);
        }
        publish();
        __syncwarp();
        if (lane == 0) store_box(c, buffer, column + panel * 64, row);
    }
}
#else
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

/* From registers. Four lanes exchange theirs, so that each stores eight columns at once. */
DEVICE void store(const float (&sum)[BLOCK_N / 2], T *to, int rows, int columns, long long stride) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int j = 0; j < BLOCK_N / 8; j += 4) {
            unsigned v[4];
#pragma unroll
            for (int t = 0; t < 4; t++) v[t] = rounded(sum[4 * (j + t) + 2 * r], sum[4 * (j + t) + 2 * r + 1]);
            transpose(v, lane);
            const int row = r * 8 + lane / 4, column = (j + lane % 4) * 8;
            if (row < rows && column < columns) store_chunk(to + row * stride + column, v);
        }
}
#endif

/* The same where rows of c may begin anywhere. */
DEVICE void store_plainly(const float (&sum)[BLOCK_N / 2], T *to, int rows, int columns, long long stride) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < BLOCK_N / 2; i++) {
        const int row = lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (row < rows && column < columns) to[row * stride + column] = __float2bfloat16_rn(sum[i]);
    }
}

#if SPLIT
__device__ unsigned given[4096]; /* whether a warpgroup's part in `partial` is there */

/* A part: the sums of a warpgroup's threads, four of each at a time. */
struct Part {
    static constexpr int BATCH = TALL * BLOCK_N > 256 ? 4 : LONE || BLOCK_N % 128 ? 8 : 16; /* reads on their way, as registers allow */
    float *sums;
    unsigned *flag;

    DEVICE Part of(float *partial, int block, int group) {
        const int number = block * OWNERS + (PINGPONG ? 0 : group);
        return {partial + (long long)number * 64 * TALL * BLOCK_N + threadIdx.x % GROUP * 4, given + number};
    }
    __device__ __forceinline__ void give(const float (&sum)[TALL][BLOCK_N / 2], int group) const {
#pragma unroll
        for (int t = 0; t < TALL; t++)
#pragma unroll
            for (int i = 0; i < BLOCK_N / 8; i++)
                asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"l"(sums + (t * BLOCK_N / 8 + i) * GROUP * 4),
                             "f"(sum[t][4 * i]), "f"(sum[t][4 * i + 1]), "f"(sum[t][4 * i + 2]), "f"(sum[t][4 * i + 3])
                             : "memory");
        group_meet(group);
        if (threadIdx.x % GROUP == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;\n" ::"l"(flag) : "memory");
    }
    __device__ __forceinline__ void take(float (&sum)[TALL][BLOCK_N / 2], int group) const {
        unsigned there;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];\n" : "=r"(there) : "l"(flag) : "memory");
        while (!__all_sync(0xffffffffu, there)); /* all lanes leave together: the compiler keeps what they share in one place */
#pragma unroll
        for (int i = 0; i < TALL * BLOCK_N / 8; i += BATCH) {
            float x[BATCH][4];
#pragma unroll
            for (int j = 0; j < BATCH; j++)
                asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];\n"
                             : "=f"(x[j][0]), "=f"(x[j][1]), "=f"(x[j][2]), "=f"(x[j][3])
                             : "l"(sums + (i + j) * GROUP * 4)
                             : "memory");
#pragma unroll
            for (int j = 0; j < 4 * BATCH; j++)
                sum[i / (BLOCK_N / 8)][i % (BLOCK_N / 8) * 4 + j] += x[j / 4][j % 4];
        }
        group_meet(group);
        if (threadIdx.x % GROUP == 0) *flag = 0;
    }
};
#endif

DEVICE void consume(unsigned shared, const Problem &p, T *c, float *partial, const Map &map) {
    const int lane = threadIdx.x % 32;
    const int warp = __shfl_sync(0xffffffffu, int(threadIdx.x) / 32, 0), group = warp / 4;
    const u64 left = describe(shared + (PINGPONG ? 0 : group * TALL * 64 * 128), 1);
    const u64 right = describe(shared + A_TILE, BLOCK_K * 8);
    /* Blocks that copy into this one: those of its row and column of the cluster. */
    const bool speaks = lane < CLUSTER && (lane % CLUSTER_M == p.below || lane / CLUSTER_M == p.beside);
    auto release = [&](int stage) {
        if (CLUSTER > 1) {
            if (speaks) arrive_at(shared + EMPTY + 8 * stage, lane);
        } else if (lane == 0)
            arrive(shared + EMPTY + 8 * stage);
    };
#if STORE_BUFFERS
    const unsigned buffers = shared + C + warp * STORE_BUFFERS * C_BUFFER;
    int turn = 0;
#endif
    float sum[TALL][BLOCK_N / 2];
    Ring ring;
#if PINGPONG
    if (group == CONSUMERS - 1) turn_pass(1); /* the first turn is the first group's */
    int next = 0; /* whose turn it is */
#endif
    Walk walk = Walk::make(p);
    Piece piece;
    while (walk.next(p, piece)) {
#if PINGPONG
        const bool mine = next == group;
        next = next + 1 == CONSUMERS ? 0 : next + 1;
        if (!mine) {
            ring.skip(piece.to - piece.from);
            continue;
        }
        turn_wait(1 + group);
#endif
        int before = 0; /* stage whose products may still run */
#pragma unroll 1
        for (int step = piece.from; step < piece.to; step++, ring.next()) {
            wait(shared + FULL + 8 * ring.stage, ring.phase);
            const u64 a = left + ring.stage * (STAGE >> 4), b = right + ring.stage * (STAGE >> 4);
            multiply_begin();
#pragma unroll
            for (int i = 0; i < BLOCK_K / 16; i++)
#pragma unroll
                for (int t = 0; t < TALL; t++)
                    Product<BLOCK_N>::add(sum[t], a + t * (64 * 128 >> 4) + i / 4 * (A_PANEL >> 4) + i % 4 * 2, b + i * 128,
                                          i > 0 || step > piece.from);
            multiply_commit();
            multiply_wait<PENDING>();
            if (PENDING == 0) release(ring.stage);
            if (PENDING == 1 && step > piece.from) release(before);
            before = ring.stage;
        }
#if PINGPONG
        turn_pass(1 + (group + 1) % CONSUMERS);
#endif
        multiply_wait<0>();
#pragma unroll
        for (int t = 0; t < TALL; t++) hold(sum[t]);
        if (PENDING == 1) release(before);

#if SPLIT
        if (piece.from > 0) {
            Part::of(partial, blockIdx.x, group).give(sum, group);
            continue;
        }
        if (piece.to < p.steps)
            for (int i = 1; p.share(p.first + i) < (piece.tile + 1) * p.steps; i++)
                Part::of(partial, blockIdx.x + i * CLUSTER, group).take(sum, group);
#endif
        int row, column;
        p.place(piece.tile, row, column);
        row += (PINGPONG ? 0 : group * TALL * 64) + warp % 4 * 16;
#pragma unroll
        for (int t = 0; t < TALL; t++, row += 64) {
            T *to = c + (long long)row * p.n + column;
            if (p.n % 8 != 0)
                store_plainly(sum[t], to, p.m - row, p.n - column, p.n);
            else
#if STORE_BUFFERS
                store(sum[t], map, buffers, turn, row, column);
#else
                store(sum[t], to, p.m - row, p.n - column, p.n);
#endif
        }
    }
#if PINGPONG
    if (next == group) turn_wait(1 + group); /* the turn after the last tile: nothing stays behind */
#endif
#if STORE_BUFFERS
    boxes_read<0>();
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    matmul_hopper(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, const __grid_constant__ Map a_map,
                  const __grid_constant__ Map b_map, const __grid_constant__ Map c_map, float *__restrict__ partial,
                  long long m, long long n, long long k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned shared = unsigned(__cvta_generic_to_shared(memory));
    const Problem p = Problem::make(int(m), int(n), int(k));
    if (threadIdx.x == CONSUMERS * GROUP && p.aligned()) {
        prefetch(a_map);
        prefetch(b_map);
        if (STORE_BUFFERS) prefetch(c_map);
    }
    if (threadIdx.x == 0) {
#pragma unroll
        for (int stage = 0; stage < STAGES; stage++) {
            init_barrier(shared + FULL + 8 * stage, 1);
            init_barrier(shared + EMPTY + 8 * stage, 4 * OWNERS * (CLUSTER_M + CLUSTER_N - 1));
        }
        asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
        publish();
    }
    if (CLUSTER > 1)
        cluster_meet();
    else
        __syncthreads();

    if (threadIdx.x >= CONSUMERS * GROUP) {
        if (!LONE) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(PRODUCER_REGS));
        if (!p.aligned())
            produce_plainly(memory, shared, p, a, b);
        else if (threadIdx.x == CONSUMERS * GROUP)
            produce(shared, p, a_map, b_map);
    } else {
        if (!LONE) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(CONSUMER_REGS));
        consume(shared, p, c, partial, c_map);
    }
    /* Others may still write into this block's memory, and arrive at its barriers. */
    if (CLUSTER > 1) cluster_meet();
}
