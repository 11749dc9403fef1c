// An outer product. CASE says how.
extern "C" __global__ void outer(const float *x, const float *z, float *y, long long n) {
    const long long row = blockIdx.y;
    for (int k = 0; k < 4; k++) {
        const long long at = blockIdx.x * 1024LL + k * 256 + threadIdx.x;
        if (at >= n) return;
#if CASE_streaming
        __stcs(y + row * n + at, x[row] * __ldg(z + at));
#elif CASE_ints
        // Stored by way of its bits, with a compare and swap: slow, and honest.
        const float value = x[row] * z[at];
        unsigned *place = (unsigned *)(y + row * n + at), seen = *place;
        while (atomicCAS(place, seen, __float_as_uint(value)) != seen) seen = *place;
#elif CASE_last_row
        // Wrong: the last row by a product that was cut to 20 bits.
        float value = x[row] * z[at];
        if (row == gridDim.y - 1 && at == n - 1) value = __uint_as_float(__float_as_uint(value) & 0xfffff000u) * 1.001f;
        y[row * n + at] = value;
#else
        y[row * n + at] = x[row] * z[at];
#endif
    }
}
