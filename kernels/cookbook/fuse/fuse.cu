/* y = max(x w + b, 0), element by element: a kernel for each operation (`apart`), or one for all (`together`). */
extern "C" __global__ void scale(const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ b, float *__restrict__ y, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = x[i] * w[i];
}

extern "C" __global__ void shift(const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ b, float *__restrict__ y, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] += b[i];
}

extern "C" __global__ void clip(const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ b, float *__restrict__ y, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = fmaxf(y[i], 0.0f);
}

extern "C" __global__ void together(const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ b, float *__restrict__ y, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i] * w[i] + b[i], 0.0f);
}
