/* c = a b for row-major matrices. A tile of ROWS x COLS vectors of c is held in registers while TILE_K steps are added to
 * it; around it, loops over TILE_M x TILE_N x TILE_K keep what is used again in the caches.
 *
 * PACK says what is copied into the order in which it will be read: nothing, tiles of b, or tiles of a and b. Copying costs
 * time and saves address translation and cache conflicts, which grow with the matrices. */
#include <stdint.h>
#include <string.h>

/* Without a tuner: the default of kernel.toml. */
#ifndef TILE_M
#define TILE_M 128
#define TILE_N 128
#define TILE_K 128
#define VEC 8
#define ROWS 4
#define COLS 2
#define UNROLL 1
#define PACK_none 1
#endif

#define WIDE (COLS * VEC) /* lanes of a register tile */
/* Vectors wider than the machine's change how they are passed; ours never are, every function that takes one is inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float vec __attribute__((vector_size(4 * VEC)));
#define INLINE static inline __attribute__((always_inline))
#define ALIGNED __attribute__((aligned(64)))
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLL_BY(n) PRAGMA(clang loop unroll_count(n))
#define UNROLL_ALL PRAGMA(clang loop unroll(full))
#else
#define UNROLL_BY(n) PRAGMA(GCC unroll n)
#define UNROLL_ALL PRAGMA(GCC unroll 32)
#endif

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE vec load(const float *from) {
    vec v;
    memcpy(&v, from, sizeof v); /* rows of any length: no vector need be aligned */
    return v;
}
INLINE void store(float *to, vec v) { memcpy(to, &v, sizeof v); }

/* c[r][lane] += the sum over k of a(r, k) * b[k][lane], for `rows` rows and WIDE lanes. a(r, k) is at a[r * ar + k * ak];
 * rows of b and c begin bs and cs apart. Always inlined with constant rows: only then do the sums live in registers. */
INLINE void tile(int rows, int64_t depth, const float *a, int64_t ar, int64_t ak, const float *b, int64_t bs, float *c,
                 int64_t cs) {
    vec sum[ROWS][COLS];
    UNROLL_ALL for (int r = 0; r < rows; r++)
        UNROLL_ALL for (int l = 0; l < COLS; l++) sum[r][l] = load(c + r * cs + l * VEC);
    UNROLL_BY(UNROLL) for (int64_t k = 0; k < depth; k++) {
        vec right[COLS];
        UNROLL_ALL for (int l = 0; l < COLS; l++) right[l] = load(b + k * bs + l * VEC);
        UNROLL_ALL for (int r = 0; r < rows; r++)
            UNROLL_ALL for (int l = 0; l < COLS; l++) sum[r][l] += a[r * ar + k * ak] * right[l];
    }
    UNROLL_ALL for (int r = 0; r < rows; r++)
        UNROLL_ALL for (int l = 0; l < COLS; l++) store(c + r * cs + l * VEC, sum[r][l]);
}

/* One panel of WIDE columns of c, `rows` high: whole register tiles, then row by row. Rows of a begin as apart; when a is
 * packed they are `depth` apart, and ROWS of them alternate. */
INLINE void panel(int64_t rows, int64_t depth, const float *a, int64_t as, const float *b, int64_t bs, float *c,
                  int64_t cs) {
    int64_t r = 0;
    for (; r + ROWS <= rows; r += ROWS)
#if PACK_both
        tile(ROWS, depth, a + r * as, 1, ROWS, b, bs, c + r * cs, cs);
#else
        tile(ROWS, depth, a + r * as, as, 1, b, bs, c + r * cs, cs);
#endif
    for (; r < rows; r++)
        tile(1, depth, a + r * as, as, 1, b, bs, c + r * cs, cs);
}

/* The last panel, narrower than WIDE: on copies, because neither b nor c may be touched beyond its columns. */
__attribute__((noinline)) static void edge(int64_t rows, int64_t width, int64_t depth, const float *a, int64_t as,
                                           const float *b, int64_t bs, float *c, int64_t cs) {
    float right[TILE_K * WIDE] ALIGNED, sum[TILE_M * WIDE] ALIGNED;
    memset(right, 0, sizeof right);
    memset(sum, 0, sizeof sum);
    for (int64_t k = 0; k < depth; k++)
        memcpy(right + k * WIDE, b + k * bs, width * sizeof *b);
    for (int64_t r = 0; r < rows; r++)
        memcpy(sum + r * WIDE, c + r * cs, width * sizeof *c);
    panel(rows, depth, a, as, right, WIDE, sum, WIDE);
    for (int64_t r = 0; r < rows; r++)
        memcpy(c + r * cs, sum + r * WIDE, width * sizeof *c);
}

#if !PACK_none
/* Whole panels of b, [panel][k][lane]. */
INLINE void pack_b(float *to, const float *b, int64_t bs, int64_t width, int64_t depth) {
    for (int64_t j = 0; j + WIDE <= width; j += WIDE)
        for (int64_t k = 0; k < depth; k++, to += WIDE)
            memcpy(to, b + k * bs + j, WIDE * sizeof *b);
}
#endif
#if PACK_both
/* Groups of ROWS rows of a, [group][k][row], then the rows that are left as they are. */
INLINE void pack_a(float *to, const float *a, int64_t as, int64_t rows, int64_t depth) {
    int64_t r = 0;
    for (; r + ROWS <= rows; r += ROWS, to += ROWS * depth)
        for (int i = 0; i < ROWS; i++)
            for (int64_t k = 0; k < depth; k++)
                to[k * ROWS + i] = a[(r + i) * as + k];
    for (; r < rows; r++, to += depth)
        memcpy(to, a + r * as, depth * sizeof *a);
}
#endif

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
#if !PACK_none
    float right[TILE_K * TILE_N] ALIGNED;
#endif
#if PACK_both
    float left[TILE_M * TILE_K] ALIGNED;
#endif
    memset(c, 0, m * n * sizeof *c);
    for (int64_t j = 0; j < n; j += TILE_N) {
        int64_t width = least(TILE_N, n - j);
        for (int64_t p = 0; p < k; p += TILE_K) {
            int64_t depth = least(TILE_K, k - p);
            const float *b_tile = b + p * n + j;
#if !PACK_none
            pack_b(right, b_tile, n, width, depth);
#endif
            for (int64_t i = 0; i < m; i += TILE_M) {
                int64_t rows = least(TILE_M, m - i), as = k, x = 0;
                const float *a_tile = a + i * k + p;
                float *c_tile = c + i * n + j;
#if PACK_both
                pack_a(left, a_tile, k, rows, depth);
                a_tile = left;
                as = depth;
#endif
                for (; x + WIDE <= width; x += WIDE)
#if PACK_none
                    panel(rows, depth, a_tile, as, b_tile + x, n, c_tile + x, n);
#else
                    panel(rows, depth, a_tile, as, right + x * depth, WIDE, c_tile + x, n);
#endif
                if (x < width)
                    edge(rows, width - x, depth, a_tile, as, b_tile + x, n, c_tile + x, n);
            }
        }
    }
}
