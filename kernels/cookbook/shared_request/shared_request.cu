/* y[i] = the largest of x[i] to x[i + 7]. A block of 64 threads stages 512 elements and their neighbours in shared memory; what it asks
 * for decides how many blocks a multiprocessor holds. */
extern "C" __global__ void __launch_bounds__(64) shared_request(const float *__restrict__ x, float *__restrict__ y, int n) {
    extern __shared__ float s[];
    const int base = blockIdx.x * 512;
    for (int i = threadIdx.x; i < 519; i += 64) s[i] = base + i < n ? x[base + i] : -__int_as_float(0x7f800000);
    __syncthreads();
    for (int i = threadIdx.x; i < 512 && base + i < n; i += 64) {
        float most = s[i];
#pragma unroll
        for (int k = 1; k < 8; k++) most = fmaxf(most, s[i + k]);
        y[base + i] = most;
    }
}
