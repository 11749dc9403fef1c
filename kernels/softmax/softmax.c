/* Softmax of every row: y[r][c] = exp(x[r][c] - max) / sum.
 *
 * METHOD says what the passes over a row are:
 *   recompute  maximum; sum of exponentials; the exponentials again, divided. Nothing is written twice.
 *   store      maximum; exponentials into y and their sum; y divided. No exponential is computed twice.
 *   online     maximum and sum at once, a new maximum shrinking the sum; the exponentials, divided. One pass fewer.
 * GROUP rows are worked on together and CHAINS vectors of each, so that steps need not wait for each other. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Without a tuner: the default of kernel.toml. */
#ifndef VEC
#define VEC 8
#define CHAINS 2
#define GROUP 1
#define METHOD_recompute 1
#define EXP_poly 1
#endif

#define STEP (CHAINS * VEC)
/* Vectors wider than the machine's change how they are passed; ours never are, every function that takes one is inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float vec __attribute__((vector_size(4 * VEC)));
typedef int32_t bits __attribute__((vector_size(4 * VEC)));
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL_ALL _Pragma("clang loop unroll(full)")
#else
#define UNROLL_ALL _Pragma("GCC unroll 16")
#endif

/* The first `count` lanes from memory, the others minus infinity, whose exponential is 0. */
INLINE vec load(const float *from, int64_t count) {
    vec v = (vec){0} - INFINITY;
    memcpy(&v, from, count < VEC ? count * sizeof *from : sizeof v);
    return v;
}
INLINE void store(float *to, vec v, int64_t count) { memcpy(to, &v, count < VEC ? count * sizeof *to : sizeof v); }
INLINE vec larger(vec a, vec b) {
    bits take = a > b;
    return (vec)((take & (bits)a) | (~take & (bits)b));
}

/* e^x for x <= 0 in every lane; 0 where that is below the smallest normal number. */
INLINE vec exp_lanes(vec x) {
#if EXP_poly
    /* x = i * ln 2 + f with |f| <= ln 2 / 2: adding 1.5 * 2^23 leaves i in the low bits. ln 2 comes in two parts, the first
     * with so few digits that i times it is exact. e^f by a polynomial fitted to least relative error (3e-9 before
     * rounding), then i is added to the exponent. */
    const float shift = 12582912.0f, lowest = -87.3365f;
    bits normal = x >= lowest;
    x = larger(x, (vec){0} + lowest);
    vec i = x * 1.44269504088896340736f + shift, whole = i - shift;
    vec f = x - whole * 0.693359375f + whole * 2.1219444170128554e-4f;
    vec p = f * 1.3814540579915047e-3f + 8.36874544620514e-3f;
    p = p * f + 4.166838899254799e-2f;
    p = p * f + 1.666652113199234e-1f;
    p = p * f + 4.999999403953552e-1f;
    p = p * f + 1.0f;
    p = p * f + 1.0f;
    return (vec)(((bits)p + ((bits)i << 23)) & normal);
#else
    for (int lane = 0; lane < VEC; lane++)
        x[lane] = expf(x[lane]);
    return x;
#endif
}

/* What is known of a row; one maximum and one sum for each chain and lane until they are combined. */
struct row {
    vec most[CHAINS], sum[CHAINS];
    float peak, scale;
};
enum pass { LOOK, ADD, WRITE };

/* One vector in one pass. */
INLINE void visit(enum pass pass, struct row *row, int chain, const float *x, float *y, int64_t count) {
    if (pass == LOOK) {
        vec v = load(x, count), most = larger(v, row->most[chain]);
#if METHOD_online
        vec shrink = exp_lanes(row->most[chain] - most);
        row->sum[chain] = row->sum[chain] * shrink + exp_lanes(v - most);
#endif
        row->most[chain] = most;
    } else if (pass == ADD) {
        vec e = exp_lanes(load(x, count) - row->peak);
#if METHOD_store
        store(y, e, count);
#endif
        row->sum[chain] += e;
    } else {
#if METHOD_store
        store(y, load(y, count) * row->scale, count);
#else
        store(y, exp_lanes(load(x, count) - row->peak) * row->scale, count);
#endif
    }
}

/* One pass over `rows` rows: whole steps of all chains, then vector by vector, the last of them perhaps not full. */
INLINE void walk(enum pass pass, int rows, struct row *row, const float *x, float *y, int64_t cols) {
    int64_t c = 0;
    for (; c + STEP <= cols; c += STEP)
        UNROLL_ALL for (int r = 0; r < rows; r++)
            UNROLL_ALL for (int chain = 0; chain < CHAINS; chain++) {
                int64_t at = r * cols + c + chain * VEC;
                visit(pass, row + r, chain, x + at, y + at, VEC);
            }
    for (; c + VEC <= cols; c += VEC)
        UNROLL_ALL for (int r = 0; r < rows; r++)
            visit(pass, row + r, 0, x + r * cols + c, y + r * cols + c, VEC);
    if (c < cols)
        UNROLL_ALL for (int r = 0; r < rows; r++)
            visit(pass, row + r, 0, x + r * cols + c, y + r * cols + c, cols - c);
}

/* Always inlined with constant rows: only then do maxima and sums live in registers. */
INLINE void soften(int rows, const float *x, float *y, int64_t cols) {
    struct row row[GROUP];
    UNROLL_ALL for (int r = 0; r < rows; r++)
        UNROLL_ALL for (int chain = 0; chain < CHAINS; chain++) {
            /* Finite: minus infinity less itself is no number. Lanes without a column end with a sum of exp(-huge) = 0. */
            row[r].most[chain] = (vec){0} - 3.402823466e38f;
            row[r].sum[chain] = (vec){0};
        }
    walk(LOOK, rows, row, x, y, cols);
    UNROLL_ALL for (int r = 0; r < rows; r++) {
        vec most = row[r].most[0];
        UNROLL_ALL for (int chain = 1; chain < CHAINS; chain++) most = larger(most, row[r].most[chain]);
        row[r].peak = most[0];
        for (int lane = 1; lane < VEC; lane++)
            row[r].peak = most[lane] > row[r].peak ? most[lane] : row[r].peak;
    }
#if !METHOD_online
    walk(ADD, rows, row, x, y, cols);
#endif
    UNROLL_ALL for (int r = 0; r < rows; r++) {
        vec sum = {0};
        UNROLL_ALL for (int chain = 0; chain < CHAINS; chain++)
#if METHOD_online
            sum += row[r].sum[chain] * exp_lanes(row[r].most[chain] - row[r].peak);
#else
            sum += row[r].sum[chain];
#endif
        float total = 0.0f;
        for (int lane = 0; lane < VEC; lane++)
            total += sum[lane];
        row[r].scale = 1.0f / total;
    }
    walk(WRITE, rows, row, x, y, cols);
}

void softmax(const float *x, float *y, int64_t rows, int64_t cols) {
    int64_t r = 0;
    for (; r + GROUP <= rows; r += GROUP)
        soften(GROUP, x + r * cols, y + r * cols, cols);
#if GROUP > 1
    for (; r < rows; r++)
        soften(1, x + r * cols, y + r * cols, cols);
#endif
}
