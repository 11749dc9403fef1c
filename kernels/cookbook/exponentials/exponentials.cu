/* y = exp(-x) + exp(-2 x) + ... + exp(-32 x), x from 0 to 1. `each`: 32 times the special-function unit. `powers`: once, and products.
 * `half`: every second one by a polynomial on the FP32 pipe. */
#if WAY_half
static __device__ __forceinline__ float by_polynomial(float t) {
    // 2^t for t from -126 to 0: the nearest integer goes to the exponent, the rest to a polynomial.
    const float whole = t + 12582912.0f, f = t - (whole - 12582912.0f);
    float p = 0.0013333558f;
    p = p * f + 0.0096181291f;
    p = p * f + 0.0555041087f;
    p = p * f + 0.2402265070f;
    p = p * f + 0.6931471806f;
    p = p * f + 1.0f;
    return __int_as_float(__float_as_int(p) + (__float_as_int(whole) << 23));
}
#endif

extern "C" __global__ void __launch_bounds__(256) exponentials(const float *__restrict__ x, float *__restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const float t = x[i] * -1.44269504f;
    float sum = 0.0f;
#if WAY_powers
    const float base = exp2f(t);
    float power = 1.0f;
#pragma unroll
    for (int k = 1; k <= 32; k++) {
        power *= base;
        sum += power;
    }
#else
#pragma unroll
    for (int k = 1; k <= 32; k++) {
#if WAY_half
        sum += k % 2 ? by_polynomial(t * k) : exp2f(t * k);
#else
        sum += exp2f(t * k);
#endif
    }
#endif
    y[i] = sum;
}
