/* Attention forward, o = softmax(scale * q k^T) v for every head, in one pass over the keys: a block of queries keeps a
 * running maximum and sum (online softmax), so that no row of scores is ever held as a whole. lse is the logarithm of each
 * row's sum of exponentials. With `causal`, query i sees the keys up to i + sk - sq; a row that sees none has o = 0 and
 * lse = -inf. Rows are contiguous; where they begin is told in elements.
 *
 * Both products are the same little routine, `product`, with a tile of ROWS x COLS vectors of accumulators in registers.
 * LANES says what lies along a vector:
 *   keys     scores [query][key], output [query][column]. Each tile of keys is transposed first, which costs the more
 *            the fewer queries share it; maximum and sum of a row go across a vector.
 *   queries  everything transposed: scores [key][query], output [column][query]. k and v are read as they are, maximum
 *            and sum stay within a lane; only q is transposed on the way in, and o on the way out.
 * P_TILE says how many queries are taken from scores to output at once: a `strip` as wide as the register tile, so that
 * the probabilities never leave the first cache, or the whole `block`, so that a panel of k or v stays there instead. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Without a tuner: the default of kernel.toml. */
#ifndef BLOCK_M
#define BLOCK_M 64
#define BLOCK_N 64
#define VEC 8
#define ROWS 4
#define COLS 2
#define UNROLL 1
#define LANES_keys 1
#define P_TILE_strip 1
#define EXP_poly 1
#endif
#if defined(T_f16) || defined(T_bf16)
#error "attention.c works on f32"
#endif

#define MAX_D 256          /* columns of a head */
#define WIDE (COLS * VEC)  /* lanes of a register tile */
#define LOG2E 1.44269504088896340736f
#define LN2 0.69314718055994530942f

/* Vectors wider than the machine's change how they are passed; ours never are, every function that takes one is inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float vec __attribute__((vector_size(4 * VEC)));
typedef int32_t bits __attribute__((vector_size(4 * VEC)));
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
INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
INLINE int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
INLINE vec load(const float *from) {
    vec v;
    memcpy(&v, from, sizeof v); /* the caller's buffers promise less alignment than a vector has */
    return v;
}
INLINE void store(float *to, vec v) { memcpy(to, &v, sizeof v); }
INLINE vec all(float x) { return x - (vec){0}; }
INLINE vec larger(vec a, vec b) {
    bits take = a > b;
    return (vec)((take & (bits)a) | (~take & (bits)b));
}

/* 2^x for x <= 0 in every lane; 0 below the smallest normal number. */
INLINE vec exp2_lanes(vec x) {
#if EXP_poly
    /* x = i + f with |f| <= 1/2: adding 1.5 * 2^23 leaves i in the low bits. 2^f by a polynomial fitted to least
     * relative error (2e-9 before rounding), then i is added to the exponent. */
    const float shift = 12582912.0f;
    bits normal = x >= -126.0f;
    x = larger(x, all(-126.0f));
    vec i = x + shift, f = x - (i - shift);
    vec p = f * 1.534581242594868e-4f + 1.3399930903688073e-3f;
    p = p * f + 9.618489071726799e-3f;
    p = p * f + 5.550328642129898e-2f;
    p = p * f + 2.4022646248340607e-1f;
    p = p * f + 6.931471824645996e-1f;
    p = p * f + 1.0f;
    return (vec)(((bits)p + ((bits)i << 23)) & normal);
#else
    for (int lane = 0; lane < VEC; lane++)
        x[lane] = exp2f(x[lane]);
    return x;
#endif
}

/* c[r][lane] = (or += when `add`) the sum over k of a(r, k) * b[k][lane], for `rows` rows and `cols` vectors of lanes.
 * a(r, k) is at a[r * ar + k * ak]; rows of b and c begin bs and cs apart. Always inlined with constant rows and cols:
 * only then do the accumulators live in registers. */
INLINE void tile(int rows, int cols, int add, int64_t depth, const float *a, int64_t ar, int64_t ak, const float *b,
                 int64_t bs, float *c, int64_t cs) {
    vec sum[ROWS][COLS];
    UNROLL_ALL for (int r = 0; r < rows; r++)
        UNROLL_ALL for (int l = 0; l < cols; l++) sum[r][l] = add ? load(c + r * cs + l * VEC) : (vec){0};
    UNROLL_BY(UNROLL) for (int64_t k = 0; k < depth; k++) {
        vec right[COLS];
        UNROLL_ALL for (int l = 0; l < cols; l++) right[l] = load(b + k * bs + l * VEC);
        UNROLL_ALL for (int r = 0; r < rows; r++) {
            vec left = all(a[r * ar + k * ak]);
            UNROLL_ALL for (int l = 0; l < cols; l++) sum[r][l] += left * right[l];
        }
    }
    UNROLL_ALL for (int r = 0; r < rows; r++)
        UNROLL_ALL for (int l = 0; l < cols; l++) store(c + r * cs + l * VEC, sum[r][l]);
}

/* The same for any number of rows: whole register tiles, then row by row. */
INLINE void tiles(int cols, int add, int64_t rows, int64_t depth, const float *a, int64_t ar, int64_t ak,
                  const float *b, int64_t bs, float *c, int64_t cs) {
    int64_t r = 0;
    for (; r + ROWS <= rows; r += ROWS)
        tile(ROWS, cols, add, depth, a + r * ar, ar, ak, b, bs, c + r * cs, cs);
#if !LANES_keys /* there, the rows are our own and padded */
    for (; r < rows; r++)
        tile(1, cols, add, depth, a + r * ar, ar, ak, b, bs, c + r * cs, cs);
#endif
}

/* A block of queries of one head: where its rows lie, and what they see. */
struct block {
    const float *q, *k, *v;
    float *o, *lse;
    int64_t q_row, kv_row, o_row; /* elements from row to row */
    int64_t seen, more, keys;     /* keys the first query sees, how many more each next one does, and how many there are */
};

INLINE int64_t sees(const struct block *at, int64_t m) { return most(least(at->seen + m * at->more, at->keys), 0); }

/* One row of the answer; its sums are `apart` from each other. */
INLINE void finish(const struct block *at, int64_t m, const float *sum, int64_t apart, float peak, float total, int64_t d) {
    for (int64_t i = 0; i < d; i++)
        at->o[m * at->o_row + i] = total > 0.0f ? sum[i * apart] / total : 0.0f;
    at->lse[m] = total > 0.0f ? (peak + log2f(total)) * LN2 : -INFINITY;
}

#if LANES_keys

#if P_TILE_strip
#define STRIP ROWS
#else
#define STRIP BLOCK_M
#endif

/* Scores to probabilities, row by row; what o holds so far is scaled to the new maximum where there is one. `seen`: the
 * first key that a row does not see, counted from the tile's first. */
INLINE void soften(float *p, int64_t rows, int64_t keys, const int64_t *seen, int64_t n, float *peak, float *total,
                   float *o, int64_t wide) {
    int64_t span = round_up(keys, VEC);
    for (int64_t r = 0; r < rows; r++, p += BLOCK_N, o += wide) {
        for (int64_t j = most(least(keys, seen[r] - n), 0); j < span; j++)
            p[j] = -INFINITY;
        vec peaks = all(peak[r]), sum = {0};
        for (int64_t j = 0; j < span; j += VEC)
            peaks = larger(load(p + j), peaks);
        float old = peak[r], new = old;
        for (int lane = 0; lane < VEC; lane++)
            new = peaks[lane] > new ? peaks[lane] : new;
        if (new == -INFINITY) { /* nothing seen yet */
            memset(p, 0, span * sizeof *p);
            continue;
        }
        for (int64_t j = 0; j < span; j += VEC) {
            vec e = exp2_lanes(load(p + j) - new);
            store(p + j, e);
            sum += e;
        }
        float row = 0.0f;
        for (int lane = 0; lane < VEC; lane++)
            row += sum[lane];
        if (new > old) {
            vec shrink = exp2_lanes(all(old - new));
            total[r] *= shrink[0];
            for (int64_t i = 0; i < wide; i += VEC)
                store(o + i, load(o + i) * shrink);
            peak[r] = new;
        }
        total[r] += row;
    }
}

/* The columns of o beyond the last whole vector: rare, so they need not be fast. */
__attribute__((cold, noinline)) static void last_columns(int64_t from, int64_t rows, int64_t keys, const float *p,
                                                         const float *v, int64_t row, int64_t d, float *o,
                                                         int64_t wide) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < keys; j++)
            for (int64_t i = from; i < d; i++)
                o[r * wide + i] += p[r * BLOCK_N + j] * v[j * row + i];
}

/* BLOCK_M queries (fewer at the end) against all keys that they see, which may be more from row to row. */
static void attend(struct block at, float scale, int64_t queries, int64_t d) {
    float scaled[BLOCK_M * MAX_D] ALIGNED, sum[BLOCK_M * MAX_D] ALIGNED, turned[BLOCK_N * MAX_D] ALIGNED;
    float p[STRIP * BLOCK_N] ALIGNED, peak[BLOCK_M], total[BLOCK_M];
    int64_t seen[BLOCK_M];
    int64_t wide = round_up(d, VEC); /* rows of sum are whole vectors, for any d */
    int64_t padded = round_up(queries, ROWS), end = sees(&at, queries - 1);
    memset(sum, 0, padded * wide * sizeof *sum);
    for (int64_t m = 0; m < padded; m++) {
        /* Rows without a query are computed and never stored. */
        for (int64_t i = 0; i < d; i++)
            scaled[m * d + i] = m < queries ? at.q[m * at.q_row + i] * scale : 0.0f;
        peak[m] = -INFINITY;
        total[m] = 0.0f;
        seen[m] = sees(&at, m);
    }
    for (int64_t n = 0; n < end; n += BLOCK_N) {
        const float *k = at.k + n * at.kv_row, *v = at.v + n * at.kv_row;
        int64_t keys = least(BLOCK_N, end - n), span = round_up(keys, WIDE);
        /* Panels of WIDE keys, [panel][column][key], so that a register tile reads one stretch of memory. */
        for (int64_t j = 0; j < span; j++) {
            float *to = turned + j / WIDE * WIDE * d + j % WIDE;
            for (int64_t i = 0; i < d; i++)
                to[i * WIDE] = j < keys ? k[j * at.kv_row + i] : 0.0f;
        }
        for (int64_t m = 0; m < padded; m += STRIP) {
            int64_t rows = least(STRIP, padded - m), i = 0;
            for (int64_t j = 0; j < span; j += WIDE)
                tiles(COLS, 0, rows, d, scaled + m * d, d, 1, turned + j * d, WIDE, p + j, BLOCK_N);
            soften(p, rows, keys, seen + m, n, peak + m, total + m, sum + m * wide, wide);
            for (; i + WIDE <= d; i += WIDE)
                tiles(COLS, 1, rows, keys, p, BLOCK_N, 1, v + i, at.kv_row, sum + m * wide + i, wide);
            for (; i + VEC <= d; i += VEC)
                tiles(1, 1, rows, keys, p, BLOCK_N, 1, v + i, at.kv_row, sum + m * wide + i, wide);
            if (i < d)
                last_columns(i, rows, keys, p, v, at.kv_row, d, sum + m * wide, wide);
        }
    }
    for (int64_t m = 0; m < queries; m++)
        finish(&at, m, sum + m * wide, 1, peak[m], total[m], d);
}

#else /* LANES_queries */

#if P_TILE_strip
#define STRIP WIDE
#else
#define STRIP BLOCK_M
#endif

/* Scores to probabilities, VEC queries at a time; what o holds so far is scaled to the new maxima. `seen`: the first key
 * that a query does not see; the tile's first is n. */
INLINE void soften(float *p, int64_t lanes, int64_t keys, const int64_t *seen, int64_t n, float *peak, float *total,
                   float *o, int64_t d) {
    for (int64_t m = 0; m < lanes; m++) /* later queries see no fewer */
        for (int64_t j = most(seen[m] - n, 0); j < keys; j++)
            p[j * STRIP + m] = -INFINITY;
    for (int64_t m = 0; m < lanes; m += VEC) {
        vec old = load(peak + m), new = old, sum = {0};
        for (int64_t j = 0; j < keys; j++)
            new = larger(load(p + j * STRIP + m), new);
        /* Where nothing has been seen yet, relative to 0: the probabilities are then 0 too. */
        vec base = (vec)((bits)new & ~(bits)(new == -INFINITY));
        for (int64_t j = 0; j < keys; j++) {
            vec e = exp2_lanes(load(p + j * STRIP + m) - base);
            store(p + j * STRIP + m, e);
            sum += e;
        }
        vec shrink = exp2_lanes(old - base);
        for (int64_t i = 0; i < d; i++)
            store(o + i * BLOCK_M + m, load(o + i * BLOCK_M + m) * shrink);
        store(total + m, load(total + m) * shrink + sum);
        store(peak + m, new);
    }
}

/* BLOCK_M queries (fewer at the end) against all keys that they see, which may be more from row to row. */
static void attend(struct block at, float scale, int64_t queries, int64_t d) {
    float turned[BLOCK_M * MAX_D] ALIGNED, sum[BLOCK_M * MAX_D] ALIGNED, p[STRIP * BLOCK_N] ALIGNED;
    float peak[BLOCK_M] ALIGNED, total[BLOCK_M] ALIGNED;
    int64_t seen[BLOCK_M];
    int64_t span = round_up(queries, WIDE), end = sees(&at, queries - 1);
    for (int64_t m = 0; m < span; m++) {
        /* Lanes without a query compute on zeros and are never stored. */
        for (int64_t i = 0; i < d; i++) {
            turned[i * BLOCK_M + m] = m < queries ? at.q[m * at.q_row + i] * scale : 0.0f;
            sum[i * BLOCK_M + m] = 0.0f;
        }
        peak[m] = -INFINITY;
        total[m] = 0.0f;
        seen[m] = sees(&at, m);
    }
    for (int64_t n = 0; n < end; n += BLOCK_N) {
        const float *k = at.k + n * at.kv_row, *v = at.v + n * at.kv_row;
        int64_t keys = least(BLOCK_N, end - n);
        for (int64_t m = 0; m < span; m += STRIP) {
            int64_t lanes = least(STRIP, span - m);
            for (int64_t j = 0; j < lanes; j += WIDE)
                tiles(COLS, 0, keys, d, k, at.kv_row, 1, turned + m + j, BLOCK_M, p + j, STRIP);
            soften(p, lanes, keys, seen + m, n, peak + m, total + m, sum + m, d);
            for (int64_t j = 0; j < lanes; j += WIDE)
                tiles(COLS, 1, d, keys, v, 1, at.kv_row, p + j, STRIP, sum + m + j, BLOCK_M);
        }
    }
    for (int64_t m = 0; m < queries; m++)
        finish(&at, m, sum + m, BLOCK_M, peak[m], total[m], d);
}
#endif

void flash_attention_forward(const float *q, const float *k, const float *v, float *o, float *lse, float scale,
                             int32_t causal, int64_t b, int64_t h, int64_t hk, int64_t sq, int64_t sk, int64_t d,
                             int64_t q_batch, int64_t q_head, int64_t q_row, int64_t kv_batch, int64_t kv_head,
                             int64_t kv_row, int64_t o_batch, int64_t o_head, int64_t o_row) {
    if (d > MAX_D)
        return; /* o stays unwritten, which no check lets pass */
    for (int64_t head = 0; head < b * h; head++) {
        int64_t batch = head / h, own = head % h, kv = batch * kv_batch + own / (h / hk) * kv_head;
        for (int64_t m = 0; m < sq; m += BLOCK_M) {
            struct block at = {q + batch * q_batch + own * q_head + m * q_row, k + kv, v + kv,
                               o + batch * o_batch + own * o_head + m * o_row, lse + head * sq + m, q_row, kv_row, o_row,
                               causal ? m + 1 + sk - sq : sk, causal != 0, sk};
            /* In powers of two: the factor log2(e) costs nothing here, and exp2 is the cheaper exponential. */
            attend(at, scale * LOG2E, least(BLOCK_M, sq - m), d);
        }
    }
}
