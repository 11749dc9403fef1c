extern "C" __global__ void narrow(const float *x, float *y, float scale, long long rows) {
    long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) y[i] = scale * x[i];
}
