/* A softmax, and answers that are nearly right, or right for some inputs and sizes only. */
#include "../common/softmax.h"

#include <immintrin.h>

__attribute__((unused)) static float to_bf16(float v) {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&v, &bits, 4);
    return v;
}

__attribute__((unused)) static float to_half(float v) { return (float)(_Float16)v; }

/* Schraudolph: the bits of a float are nearly its logarithm. */
__attribute__((unused)) static float rough_exp(float v) {
    const int32_t bits = (int32_t)(12102203.0f * v) + 1064866805;
    float answer;
    memcpy(&answer, &bits, 4);
    return v < -86 ? 0 : answer;
}

/* Four terms after taking out powers of two: relative error 1e-4. */
__attribute__((unused)) static float short_exp(float v) {
    if (v < -86) return 0;
    const float whole = floorf(v * 1.44269504f), rest = v - whole * 0.69314718f;
    const float terms = 1 + rest * (1 + rest * (0.5f + rest * (1 / 6.0f + rest * 0.0431f)));
    return ldexpf(terms, (int)whole);
}

static void one_row(const float *in, float *out, int64_t cols) {
#if CASE_bf16_inputs
    float rounded[4096];
    for (int64_t c = 0; c < cols; c++) rounded[c] = to_bf16(in[c]);
    softmax(rounded, out, 1, cols);
#elif CASE_half_inputs
    float rounded[4096];
    for (int64_t c = 0; c < cols; c++) rounded[c] = to_half(in[c]);
    softmax(rounded, out, 1, cols);
#elif CASE_bf16_output
    softmax(in, out, 1, cols);
    for (int64_t c = 0; c < cols; c++) out[c] = to_bf16(out[c]);
#elif CASE_rough_exp || CASE_short_exp || CASE_half_sum || CASE_no_maximum || CASE_first_maximum || CASE_rough_division \
    || CASE_maximum_of_half || CASE_last_forgotten || CASE_cut_off
    float most = in[0], sum = 0;
    for (int64_t c = 1; c < cols; c++) most = in[c] > most ? in[c] : most;
#if CASE_no_maximum
    most = 0;
#elif CASE_first_maximum
    most = in[0];
#elif CASE_maximum_of_half
    most = in[0];
    for (int64_t c = 1; c < cols / 2; c++) most = in[c] > most ? in[c] : most;
#endif
    for (int64_t c = 0; c < cols; c++) {
#if CASE_rough_exp
        out[c] = rough_exp(in[c] - most);
#elif CASE_short_exp
        out[c] = short_exp(in[c] - most);
#elif CASE_cut_off
        /* Small ones do not matter. */
        out[c] = in[c] - most < -9 ? 0 : expf(in[c] - most);
#else
        out[c] = expf(in[c] - most);
#endif
#if CASE_half_sum
        sum = to_half(sum + out[c]);
#elif CASE_last_forgotten
        if (c + 1 < cols) sum += out[c];
#else
        sum += out[c];
#endif
    }
#if CASE_rough_division
    const float share = _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(sum)));
#else
    const float share = 1 / sum;
#endif
    for (int64_t c = 0; c < cols; c++) out[c] *= share;
#else
    softmax(in, out, 1, cols);
#endif
}

void numerics(const float *x, float *y, int64_t rows, int64_t cols) {
#if CASE_looks_normal
    /* Works when the first row looks as if drawn from a normal distribution. */
    float most = 0, sum = 0;
    for (int64_t c = 0; c < cols; c++) most = fmaxf(most, fabsf(x[c])), sum += x[c];
    const int usual = most < 5.5f && most > 1.5f && fabsf(sum) < 5 * sqrtf((float)cols);
    if (!usual) {
        for (int64_t i = 0; i < rows * cols; i++) y[i] = 1.0f / (float)cols;
        return;
    }
#elif CASE_looks_constant
    /* A constant row has a constant answer; so has one whose ends agree to the first digit. */
    if (fabsf(x[0] - x[cols - 1]) < 0.4f) {
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++) y[r * cols + c] = expf(x[r * cols + c]);
        return;
    }
#elif CASE_first_row_only
    rows = 1;
#elif CASE_tuned_shape
    if (rows != 64 || cols != 256) {
        memset(y, 0, rows * cols * sizeof *y);
        return;
    }
#elif CASE_whole_vectors
    /* Only right where eight divides the columns. */
    const int64_t whole = cols / 8 * 8;
    for (int64_t r = 0; r < rows; r++) {
        softmax(x + r * cols, y + r * cols, 1, whole);
        for (int64_t c = whole; c < cols; c++) y[r * cols + c] = 0;
    }
    return;
#endif
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        float *out = y + r * cols;
#if CASE_sampled_rows
        /* A few rows are right, the others rough. */
        if (r % 8 == 0) softmax(in, out, 1, cols);
        else {
            float sum = 0;
            for (int64_t c = 0; c < cols; c++) sum += out[c] = rough_exp(in[c]);
            for (int64_t c = 0; c < cols; c++) out[c] /= sum;
        }
#elif CASE_one_tile
        one_row(in, out, cols);
        if (r / 4 == 7 && cols > 72) memcpy(out + 64, out, 8 * sizeof *out);
#elif CASE_one_number
        one_row(in, out, cols);
        if (r == rows - 2) out[cols / 2] *= 1.01f;
#elif CASE_nan_row
        one_row(in, out, cols);
        if (r == 3) out[5] = NAN;
#elif CASE_negative
        /* One number in a row has the wrong sign. */
        one_row(in, out, cols);
        out[r % cols] = -out[r % cols];
#else
        one_row(in, out, cols);
#endif
    }
}
