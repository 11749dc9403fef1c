/* Sixteen times y = 0.9 y + 0.1, from y = x: a launch for each step (`apart`), or a loop in one kernel (`together`). */
extern "C" __global__ void first(const float *__restrict__ x, float *__restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i] * 0.9f + 0.1f;
}

extern "C" __global__ void further(const float *__restrict__ x, float *__restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = y[i] * 0.9f + 0.1f;
}

extern "C" __global__ void together(const float *__restrict__ x, float *__restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int s = 0; s < 16; s++) v = v * 0.9f + 0.1f;
    y[i] = v;
}
