/* y[row] = sum of x[row, :]. A cluster has one row, each of its blocks a share of it, and the first block adds the shares up,
 * in order, so that the answer is always the same. */

/* Without a tuner. */
#ifndef CLUSTER
#define CLUSTER 2
#define THREADS 64
#define CASE_right 1
#endif

/* Waits for all threads of all blocks of the cluster; what they wrote can be read behind it. */
__device__ void meet() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* A float of another block's shared memory, where this block has its own. */
__device__ float read(const float *own, unsigned block) {
    unsigned there;
    float value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(own)), "r"(block));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
    return value;
}

extern "C" __global__ void sums(const float *x, float *y, int rows, int columns) {
    __shared__ float parts[THREADS];
    __shared__ float share;
    unsigned rank, size;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    const int row = blockIdx.x / CLUSTER;
    float sum = 0;
    for (int i = rank * THREADS + threadIdx.x; i < columns; i += CLUSTER * THREADS)
        sum += x[(long long)row * columns + i];
    parts[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0) share = parts[0];
    meet();
    if (rank == 0 && threadIdx.x == 0) {
        float all = 0;
#if CASE_own_share
        for (unsigned block = 0; block < size; ++block) all += read(&share, 0);
#else
        for (unsigned block = 0; block < size; ++block) all += read(&share, block);
#endif
        /* Were it launched without clusters, or with others, nobody shall take it for right. */
        if (row < rows) y[row] = size == CLUSTER ? all : __int_as_float(0x7fffffff);
    }
    /* Shared memory goes with its block: none may end while it is read. */
    meet();
}
