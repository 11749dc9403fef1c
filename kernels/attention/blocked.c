/* Attention in tiles that fit the first cache, with loops turned so that the compiler vectorises every inner one: a tile
 * of keys is transposed once for 64 queries, and probabilities are spread over whole rows of v. The softmax is online. */
#include <math.h>
#include <stdint.h>

enum { TILE = 64, MAX_D = 256 };

/* The first of the queries sees `seen` of `sk` keys, each next one `more` of them more. */
static void block(const float *q, int64_t q_row, const float *k, const float *v, int64_t kv_row, float *restrict o,
                  int64_t o_row, float *lse, float scale, int64_t queries, int64_t seen, int64_t more, int64_t sk,
                  int64_t d) {
    float turned[MAX_D][TILE], p[TILE], peak[TILE], total[TILE];
    for (int64_t m = 0; m < queries; m++) {
        peak[m] = -INFINITY;
        total[m] = 0.0f;
        for (int64_t i = 0; i < d; i++)
            o[m * o_row + i] = 0.0f;
    }
    for (int64_t n = 0; n < sk; n += TILE) {
        int64_t keys = sk - n < TILE ? sk - n : TILE;
        for (int64_t j = 0; j < TILE; j++)
            for (int64_t i = 0; i < d; i++)
                turned[i][j] = j < keys ? k[(n + j) * kv_row + i] : 0.0f;
        for (int64_t m = 0; m < queries; m++) {
            float *out = o + m * o_row;
            int64_t here = seen + m * more - n < keys ? seen + m * more - n : keys;
            if (here <= 0)
                continue;
            for (int64_t j = 0; j < TILE; j++)
                p[j] = 0.0f;
            for (int64_t i = 0; i < d; i++) {
                float x = q[m * q_row + i] * scale;
                for (int64_t j = 0; j < TILE; j++)
                    p[j] += x * turned[i][j];
            }
            float most = peak[m], sum = 0.0f;
            for (int64_t j = 0; j < here; j++)
                most = fmaxf(most, p[j]);
            float shrink = expf(peak[m] - most);
            for (int64_t j = 0; j < here; j++) {
                p[j] = expf(p[j] - most);
                sum += p[j];
            }
            for (int64_t i = 0; i < d; i++)
                out[i] *= shrink;
            for (int64_t j = 0; j < here; j++)
                for (int64_t i = 0; i < d; i++)
                    out[i] += p[j] * v[(n + j) * kv_row + i];
            peak[m] = most;
            total[m] = total[m] * shrink + sum;
        }
    }
    for (int64_t m = 0; m < queries; m++) {
        for (int64_t i = 0; i < d; i++)
            o[m * o_row + i] /= total[m] > 0.0f ? total[m] : 1.0f;
        lse[m] = peak[m] + logf(total[m]);
    }
}

void blocked(const float *q, const float *k, const float *v, float *o, float *lse, float scale, int32_t causal,
             int64_t b, int64_t h, int64_t hk, int64_t sq, int64_t sk, int64_t d, int64_t q_batch, int64_t q_head,
             int64_t q_row, int64_t kv_batch, int64_t kv_head, int64_t kv_row, int64_t o_batch, int64_t o_head,
             int64_t o_row) {
    if (d > MAX_D)
        return; /* o stays unwritten, which the caller checks */
    for (int64_t head = 0; head < b * h; head++) {
        int64_t batch = head / h, own = head % h, kv = batch * kv_batch + own / (h / hk) * kv_head;
        const float *queries = q + batch * q_batch + own * q_head;
        float *out = o + batch * o_batch + own * o_head;
        for (int64_t m = 0; m < sq; m += TILE)
            block(queries + m * q_row, q_row, k + kv, v + kv, kv_row, out + m * o_row, o_row, lse + head * sq + m, scale,
                  sq - m < TILE ? sq - m : TILE, causal ? m + 1 + sk - sq : sk, causal != 0, sk, d);
    }
}
