/* Attention in tiles that fit the first cache, with loops turned so that the compiler vectorises every inner one: a tile
 * of keys is transposed once for 64 queries, and probabilities are spread over whole rows of v. The softmax is online. */
#include <math.h>
#include <stdint.h>

enum { TILE = 64, MAX_D = 256 };

static void block(const float *q, const float *k, const float *v, float *restrict o, float scale, int64_t queries,
                  int64_t s, int64_t d) {
    float turned[MAX_D][TILE], p[TILE], peak[TILE], total[TILE];
    for (int64_t m = 0; m < queries; m++) {
        peak[m] = -INFINITY;
        total[m] = 0.0f;
        for (int64_t i = 0; i < d; i++)
            o[m * d + i] = 0.0f;
    }
    for (int64_t n = 0; n < s; n += TILE) {
        int64_t keys = s - n < TILE ? s - n : TILE;
        for (int64_t j = 0; j < TILE; j++)
            for (int64_t i = 0; i < d; i++)
                turned[i][j] = j < keys ? k[(n + j) * d + i] : 0.0f;
        for (int64_t m = 0; m < queries; m++) {
            float *out = o + m * d;
            for (int64_t j = 0; j < TILE; j++)
                p[j] = 0.0f;
            for (int64_t i = 0; i < d; i++) {
                float x = q[m * d + i] * scale;
                for (int64_t j = 0; j < TILE; j++)
                    p[j] += x * turned[i][j];
            }
            float most = peak[m], sum = 0.0f;
            for (int64_t j = 0; j < keys; j++)
                most = fmaxf(most, p[j]);
            float shrink = expf(peak[m] - most);
            for (int64_t j = 0; j < keys; j++) {
                p[j] = expf(p[j] - most);
                sum += p[j];
            }
            for (int64_t i = 0; i < d; i++)
                out[i] *= shrink;
            for (int64_t j = 0; j < keys; j++)
                for (int64_t i = 0; i < d; i++)
                    out[i] += p[j] * v[(n + j) * d + i];
            peak[m] = most;
            total[m] = total[m] * shrink + sum;
        }
    }
    for (int64_t m = 0; m < queries; m++)
        for (int64_t i = 0; i < d; i++)
            o[m * d + i] /= total[m];
}

void blocked(const float *q, const float *k, const float *v, float *o, float scale, int64_t b, int64_t h, int64_t s,
             int64_t d) {
    if (d > MAX_D)
        return; /* o stays unwritten, which the caller checks */
    for (int64_t head = 0; head < b * h; head++) {
        int64_t at = head * s * d;
        for (int64_t m = 0; m < s; m += TILE)
            block(q + at + m * d, k + at, v + at, o + at + m * d, scale, s - m < TILE ? s - m : TILE, s, d);
    }
}
