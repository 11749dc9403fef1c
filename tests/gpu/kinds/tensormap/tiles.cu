/* y = 2 x + 1, tile by tile: the TMA unit copies a box of x into shared memory, one row of boxes for each block. What a box
 * has outside the matrix must arrive as zeros; where it does not, everything the block writes is wrong on purpose. */

/* Without a tuner. */
#ifndef BOX_X
#define BOX_X 32
#define BOX_Y 8
#define MAP_plain 1
#define CASE_right 1
#endif

/* A descriptor as the hardware reads it; cuda.h calls it CUtensorMap. */
struct alignas(64) Descriptor {
    unsigned long long words[16];
};

__device__ unsigned in_shared(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

/* One copy, begun by one thread. The bytes outside the matrix count as well. */
__device__ void fetch(float *to, const Descriptor *map, int column, int row, unsigned long long *barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(in_shared(barrier)), "r"(BOX_X * BOX_Y * 4) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(in_shared(to)), "l"(map), "r"(column), "r"(row), "r"(in_shared(barrier)) : "memory");
}

__device__ void wait(unsigned long long *barrier, unsigned phase) {
    unsigned done = 0;
    while (!done)
        asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(in_shared(barrier)), "r"(phase) : "memory");
}

/* Where an element of the tile lies. Swizzle 128B exchanges the 16-byte parts of a 128-byte row, by the row's number. */
__device__ int place(int row, int column) {
#if MAP_swizzled && !CASE_not_unswizzled
    return row * 32 + (((column / 4) ^ (row % 8)) * 4 + column % 4);
#else
    return row * BOX_X + column;
#endif
}

extern "C" __global__ void tiles(const float *x, float *y, const __grid_constant__ Descriptor plain,
                                 const __grid_constant__ Descriptor swizzled, int rows, int columns) {
    /* The pattern of the swizzle repeats after 1024 bytes. */
    __shared__ alignas(1024) float tile[BOX_X * BOX_Y];
    __shared__ alignas(8) unsigned long long barrier;
#if MAP_swizzled
    const Descriptor *map = &swizzled;
#else
    const Descriptor *map = &plain;
#endif
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(in_shared(&barrier)) : "memory");
        /* The copy is done by another proxy, which must see the barrier too. */
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    const int top = blockIdx.x * BOX_Y;
    unsigned phase = 0;
    for (int left = 0; left < columns; left += BOX_X, phase ^= 1) {
#if CASE_turned
        if (threadIdx.x == 0) fetch(tile, map, top, left, &barrier);
#else
        if (threadIdx.x == 0) fetch(tile, map, left, top, &barrier);
#endif
        wait(&barrier, phase);
        int stray = 0;
        for (int i = threadIdx.x; i < BOX_X * BOX_Y; i += blockDim.x) {
            const int row = i / BOX_X, column = i % BOX_X;
            const bool outside = top + row >= rows || left + column >= columns;
            /* Not by value: a NaN is no zero either. */
            stray |= outside && __float_as_int(tile[place(row, column)]) != 0;
        }
        stray = __syncthreads_or(stray);
        for (int i = threadIdx.x; i < BOX_X * BOX_Y; i += blockDim.x) {
            const int row = i / BOX_X, column = i % BOX_X;
            if (top + row < rows && left + column < columns)
                y[(long long)(top + row) * columns + left + column] = 2 * tile[place(row, column)] + 1 + stray;
        }
        /* The next copy overwrites what others may still be reading. */
        __syncthreads();
    }
}
