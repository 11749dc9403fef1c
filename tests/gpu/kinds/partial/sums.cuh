// The sum of a block's numbers, in the order of its threads.
__device__ float block_sum(float own) {
    __shared__ float all[X * Y];
    int thread = threadIdx.y * X + threadIdx.x;
    all[thread] = own;
    __syncthreads();
    for (int step = X * Y / 2; step > 0; step /= 2) {
        if (thread < step) all[thread] += all[thread + step];
        __syncthreads();
    }
    return all[0];
}
