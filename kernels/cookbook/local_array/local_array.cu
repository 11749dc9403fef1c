/* The eight largest of a column, in order. With `computed` a new number moves those below it by an index that is known only at run
 * time, so the list lies in local memory. With `constant` it is compared with all eight, and the list stays in registers. */
extern "C" __global__ void __launch_bounds__(128) local_array(const float *__restrict__ x, float *__restrict__ y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float best[8];
#pragma unroll
    for (int k = 0; k < 8; k++) best[k] = -__int_as_float(0x7f800000);
    for (int t = 0; t < 64; t++) {
        float v = x[t * n + i];
#if INDEX_constant
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const float low = fminf(best[k], v);
            best[k] = fmaxf(best[k], v);
            v = low;
        }
#else
        if (v > best[7]) {
            int k = 7;
            while (k > 0 && best[k - 1] < v) {
                best[k] = best[k - 1];
                k--;
            }
            best[k] = v;
        }
#endif
    }
#pragma unroll
    for (int k = 0; k < 8; k++) y[k * n + i] = best[k];
}
