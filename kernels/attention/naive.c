/* Attention as first written down: for every query all scores, their softmax, then the weighted sum of the values. The
 * whole row of scores is held at once. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void naive(const float *q, const float *k, const float *v, float *o, float *lse, float scale, int32_t causal, int64_t b,
           int64_t h, int64_t hk, int64_t sq, int64_t sk, int64_t d, int64_t q_batch, int64_t q_head, int64_t q_row,
           int64_t kv_batch, int64_t kv_head, int64_t kv_row, int64_t o_batch, int64_t o_head, int64_t o_row) {
    float *p = malloc(sk * sizeof *p);
    if (p == NULL)
        return; /* o stays unwritten, which the caller checks */
    for (int64_t head = 0; head < b * h; head++) {
        int64_t batch = head / h, own = head % h, kv = batch * kv_batch + own / (h / hk) * kv_head;
        const float *keys = k + kv, *values = v + kv;
        for (int64_t m = 0; m < sq; m++) {
            const float *query = q + batch * q_batch + own * q_head + m * q_row;
            float *out = o + batch * o_batch + own * o_head + m * o_row;
            int64_t seen = causal && m + 1 + sk - sq < sk ? m + 1 + sk - sq : sk;
            float peak = -INFINITY, sum = 0.0f;
            for (int64_t n = 0; n < seen; n++) {
                float dot = 0.0f;
                for (int64_t i = 0; i < d; i++)
                    dot += query[i] * keys[n * kv_row + i];
                p[n] = dot * scale;
                peak = fmaxf(peak, p[n]);
            }
            for (int64_t n = 0; n < seen; n++) {
                p[n] = expf(p[n] - peak);
                sum += p[n];
            }
            for (int64_t i = 0; i < d; i++)
                out[i] = 0.0f;
            for (int64_t n = 0; n < seen; n++)
                for (int64_t i = 0; i < d; i++)
                    out[i] += p[n] / sum * values[n * kv_row + i];
            lse[head * sq + m] = seen > 0 ? peak + logf(sum) : -INFINITY;
        }
    }
    free(p);
}
