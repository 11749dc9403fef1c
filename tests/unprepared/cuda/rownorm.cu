// Divides every row of a matrix by its Euclidean length.
#ifndef THREADS
#define THREADS 256
#endif
#ifndef VECTOR
#define VECTOR 4
#endif

__device__ float sum_of_block(float value) {
    __shared__ float parts[32];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < THREADS / 32 ? parts[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32)
        for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x == 0) parts[0] = value;
    __syncthreads();
    return parts[0];
}

__global__ void rownorm(const float *x, float *y, int cols) {
    const float *row = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols;
    float total = 0.0f;
#if VECTOR == 4
    const float4 *row4 = reinterpret_cast<const float4 *>(row);
    for (int i = threadIdx.x; i < cols / 4; i += THREADS) {
        float4 v = row4[i];
        total += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
#else
    for (int i = threadIdx.x; i < cols; i += THREADS) total += row[i] * row[i];
#endif
    float scale = rsqrtf(sum_of_block(total));
#if VECTOR == 4
    float4 *out4 = reinterpret_cast<float4 *>(out);
    for (int i = threadIdx.x; i < cols / 4; i += THREADS) {
        float4 v = row4[i];
        out4[i] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
    }
#else
    for (int i = threadIdx.x; i < cols; i += THREADS) out[i] = row[i] * scale;
#endif
}
