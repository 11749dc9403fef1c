/* A plain attention, a thread for each query, with tiles of 48 keys in buffers of 64 rows. INDEX and PAD bring the
 * mistakes: a row found by `key % 64` is right only while the tile begins at a multiple of 64, and rows longer by one
 * element are no place for copies of 16 bytes. */
#include <cuda_fp16.h>

constexpr int D = 64, TILE = 48, ROWS = 64, ROW = D + PAD;

static __device__ void copy_async(unsigned to, const __half *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from) : "memory");
}

extern "C" __global__ void __launch_bounds__(64)
    attend(const __half *q, const __half *k, const __half *v, __half *o, float scale, int s) {
    extern __shared__ __align__(16) __half shared[];
    __half *keys = shared, *values = shared + ROWS * ROW;
    const int query = blockIdx.x * 64 + threadIdx.x, head = blockIdx.y * s * D;
    float sum[D] = {}, most = -1e30f, total = 0.0f;
    for (int first = 0; first < s; first += TILE) {
        const int count = s - first < TILE ? s - first : TILE;
        for (int i = threadIdx.x; i < count * (D / 8); i += 64) {
            const int row = i / (D / 8), column = i % (D / 8) * 8, from = head + (first + row) * D + column;
            copy_async(unsigned(__cvta_generic_to_shared(keys + row * ROW + column)), k + from);
            copy_async(unsigned(__cvta_generic_to_shared(values + row * ROW + column)), v + from);
        }
        asm volatile("cp.async.wait_all;\n" ::: "memory");
        __syncthreads();
        for (int key = first; key < first + count; key++) {
#if INDEX_modulo
            const int row = key % ROWS;
#else
            const int row = key - first;
#endif
            float score = 0.0f;
            for (int i = 0; i < D; i++) {
                const float own = query < s ? __half2float(q[head + query * D + i]) : 0.0f;
                score += own * __half2float(keys[row * ROW + i]);
            }
            score *= scale;
            const float now = fmaxf(most, score), shrink = __expf(most - now), p = __expf(score - now);
            most = now;
            total = total * shrink + p;
#pragma unroll
            for (int i = 0; i < D; i++) sum[i] = sum[i] * shrink + p * __half2float(values[row * ROW + i]);
        }
        __syncthreads();
    }
    if (query < s) {
#pragma unroll
        for (int i = 0; i < D; i++) o[head + query * D + i] = __float2half(sum[i] / total);
    }
}
