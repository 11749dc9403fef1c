// Attention in double precision, for whole answers: the processor would take seconds for each. attention.ptx is made from
// this file by scripts/ptx.sh; reference.rs launches it, in a process of its own.
//
// A block has 64 queries of one head and 64 columns of the output. It goes through the keys 64 at a time, with the largest
// score so far and sums that are scaled when that changes. Nothing is rounded to anything narrower in between.
#include <math_constants.h>

typedef long long i64;

constexpr int TILE = 64;   // queries, keys, columns
constexpr int CHUNK = 8;   // dimensions or keys that lie in shared memory at a time
constexpr int LANES = 16;  // a thread has each sixteenth row and column of a tile
constexpr int EACH = TILE / LANES;

// Numbers come and go as floats where these hold all there is to tell.
__device__ double number(const void *data, i64 at, bool wide) {
    return wide ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

// Over the sixteen threads that share a row.
__device__ double largest(double value) {
    for (int step = LANES / 2; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(~0u, value, step));
    return value;
}
__device__ double total(double value) {
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    return value;
}

extern "C" __global__ void __launch_bounds__(LANES * LANES)
kiln_attention(const void *q, const void *k, const void *v, void *o, double *lse, i64 heads, i64 kv_heads, i64 queries,
               i64 keys, i64 width, i64 v_width, i64 causal, i64 wide_in, i64 wide_out, double scale) {
    __shared__ double left[CHUNK][TILE + 1], right[CHUNK][TILE + 1], weights[TILE][TILE + 1];
    const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;
    const i64 tiles = (queries + TILE - 1) / TILE;
    const i64 head = blockIdx.x / tiles, first = blockIdx.x % tiles * TILE, column = (i64)blockIdx.y * TILE;
    const i64 kv_head = head / heads * kv_heads + head % heads / (heads / kv_heads);
    const i64 q_at = (head * queries + first) * width, k_at = kv_head * keys * width, v_at = kv_head * keys * v_width;

    // How many keys each row sees: the last query sees all of them. Rows beyond the last one see none.
    i64 seen[EACH], most = 0;
    for (int i = 0; i < EACH; i++) {
        const i64 row = first + y + LANES * i;
        seen[i] = row >= queries ? 0 : causal ? keys - (queries - 1 - row) : keys;
    }
    const i64 last = first + TILE <= queries ? first + TILE - 1 : queries - 1;
    most = causal ? keys - (queries - 1 - last) : keys;

    double out[EACH][EACH] = {}, top[EACH], sum[EACH] = {};
    for (int i = 0; i < EACH; i++) top[i] = -CUDART_INF;

    for (i64 key = 0; key < most; key += TILE) {
        double score[EACH][EACH] = {};
        for (i64 d = 0; d < width; d += CHUNK) {
            __syncthreads();
            for (int e = threadIdx.x; e < TILE * CHUNK; e += LANES * LANES) {
                const int row = e / CHUNK, at = e % CHUNK;
                const bool here = d + at < width;
                left[at][row] = here && first + row < queries ? number(q, q_at + row * width + d + at, wide_in) : 0.0;
                right[at][row] = here && key + row < keys ? number(k, k_at + (key + row) * width + d + at, wide_in) : 0.0;
            }
            __syncthreads();
#pragma unroll
            for (int c = 0; c < CHUNK; c++) {
                double a[EACH], b[EACH];
                for (int i = 0; i < EACH; i++) a[i] = left[c][y + LANES * i], b[i] = right[c][x + LANES * i];
                for (int i = 0; i < EACH; i++)
                    for (int j = 0; j < EACH; j++) score[i][j] = fma(a[i], b[j], score[i][j]);
            }
        }
        for (int i = 0; i < EACH; i++) {
            double high = -CUDART_INF;
            for (int j = 0; j < EACH; j++) {
                score[i][j] *= scale;
                if (key + x + LANES * j < seen[i]) high = fmax(high, score[i][j]);
            }
            high = fmax(top[i], largest(high));
            // Where nothing has been seen yet, there is nothing to scale.
            const double shrink = top[i] == high ? 1.0 : exp(top[i] - high);
            double more = 0.0;
            for (int j = 0; j < EACH; j++) {
                const double weight = key + x + LANES * j < seen[i] ? exp(score[i][j] - high) : 0.0;
                weights[y + LANES * i][x + LANES * j] = weight;
                more += weight;
                out[i][j] *= shrink;
            }
            sum[i] = sum[i] * shrink + total(more);
            top[i] = high;
        }
        for (int c = 0; c < TILE; c += CHUNK) {
            __syncthreads();
            for (int e = threadIdx.x; e < TILE * CHUNK; e += LANES * LANES) {
                const int at = e / TILE, col = e % TILE;
                const bool here = key + c + at < keys && column + col < v_width;
                right[at][col] = here ? number(v, v_at + (key + c + at) * v_width + column + col, wide_in) : 0.0;
            }
            __syncthreads();
#pragma unroll
            for (int at = 0; at < CHUNK; at++) {
                double a[EACH], b[EACH];
                for (int i = 0; i < EACH; i++) a[i] = weights[y + LANES * i][c + at], b[i] = right[at][x + LANES * i];
                for (int i = 0; i < EACH; i++)
                    for (int j = 0; j < EACH; j++) out[i][j] = fma(a[i], b[j], out[i][j]);
            }
        }
    }
    for (int i = 0; i < EACH; i++) {
        const i64 row = first + y + LANES * i;
        if (row >= queries) continue;
        for (int j = 0; j < EACH; j++) {
            const i64 col = column + x + LANES * j, at = (head * queries + row) * v_width + col;
            const double value = sum[i] > 0.0 ? out[i][j] / sum[i] : out[i][j];
            if (col >= v_width) continue;
            if (wide_out) ((double *)o)[at] = value;
            else ((float *)o)[at] = (float)value;
        }
        if (blockIdx.y == 0 && x == 0) lse[head * queries + row] = sum[i] > 0.0 ? top[i] + log(sum[i]) : -CUDART_INF;
    }
}
