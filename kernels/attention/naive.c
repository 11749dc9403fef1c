/* Attention as first written down: for every query all scores, their softmax, then the weighted sum of the values. The
 * whole row of scores is held at once. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void naive(const float *q, const float *k, const float *v, float *o, float scale, int64_t b, int64_t h, int64_t s,
           int64_t d) {
    float *p = malloc(s * sizeof *p);
    if (p == NULL)
        return; /* o stays unwritten, which the caller checks */
    for (int64_t head = 0; head < b * h; head++) {
        const float *keys = k + head * s * d, *values = v + head * s * d;
        for (int64_t m = 0; m < s; m++) {
            const float *query = q + (head * s + m) * d;
            float *out = o + (head * s + m) * d;
            float peak = -INFINITY, sum = 0.0f;
            for (int64_t n = 0; n < s; n++) {
                float dot = 0.0f;
                for (int64_t i = 0; i < d; i++)
                    dot += query[i] * keys[n * d + i];
                p[n] = dot * scale;
                peak = fmaxf(peak, p[n]);
            }
            for (int64_t n = 0; n < s; n++) {
                p[n] = expf(p[n] - peak);
                sum += p[n];
            }
            for (int64_t i = 0; i < d; i++)
                out[i] = 0.0f;
            for (int64_t n = 0; n < s; n++)
                for (int64_t i = 0; i < d; i++)
                    out[i] += p[n] / sum * values[n * d + i];
        }
    }
    free(p);
}
