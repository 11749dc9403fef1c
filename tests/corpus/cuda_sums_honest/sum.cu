// Sums of rows in honest but unusual ways. CASE says which.
extern __shared__ __align__(16) unsigned char dynamic[];
__device__ unsigned barrier_count, next_row, blocks_out;
__device__ volatile unsigned barrier_phase;
__device__ unsigned done_of[8192];
__constant__ float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f};

__device__ float block_sum(float mine) {
    __shared__ float space[8];
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) space[threadIdx.x / 32] = mine;
    __syncthreads();
    float total = 0;
    for (int warp = 0; warp < 8; warp++) total += space[warp];
    return total;
}

// A barrier of all blocks: the launch is cooperative, so all of them run. The phase is one more after every barrier.
__device__ void wait_for_all() {
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned phase = barrier_phase;
        __threadfence();
        if (atomicAdd(&barrier_count, 1) == gridDim.x - 1) {
            barrier_count = 0;
            __threadfence();
            barrier_phase = phase + 1;
        } else {
            while (barrier_phase == phase) __nanosleep(50);
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ void copy4(float *to, const float *from) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from));
}

extern "C" __global__ void __launch_bounds__(256) sum(const float *x, float *y, float *partial, int r, int c) {
    const int block = blockIdx.x, blocks = gridDim.x;
#if CASE_atomics
    for (int row = block * 256 + threadIdx.x; row < r; row += blocks * 256) y[row] = 0;
    wait_for_all();
    // Pieces of 256 numbers, in turn to all blocks.
    const int pieces = (c + 255) / 256;
    for (int piece = block; piece < pieces * r; piece += blocks) {
        const int row = piece / pieces, k = piece % pieces * 256 + threadIdx.x;
        const float total = block_sum(k < c ? x[(long long)row * c + k] : 0.0f);
        if (threadIdx.x == 0) atomicAdd(&y[row], total);
    }
#elif CASE_grid_barrier
    for (int row = 0; row < r; row++) {
        float mine = 0;
        for (int k = block * 256 + threadIdx.x; k < c; k += blocks * 256) mine += x[(long long)row * c + k];
        // Most blocks have nothing of a row.
        if (block * 256 < c) {
            const float total = block_sum(mine);
            if (threadIdx.x == 0) partial[(long long)row * 132 + block] = total;
        }
    }
    wait_for_all();
    const int used = min(blocks, (c + 255) / 256);
    for (int row = block * 256 + threadIdx.x; row < r; row += blocks * 256) {
        float total = 0;
        for (int k = 0; k < used; k++) total += __ldcg(&partial[(long long)row * 132 + k]);
        y[row] = total;
    }
#elif CASE_stream_k
    // Block b has the elements from b * share to (b + 1) * share, whichever rows these are in.
    const long long all = (long long)r * c, share = (all + blocks - 1) / blocks;
    long long from = block * share;
    const long long to = min(all, from + share);
    while (from < to) {
        const int row = (int)(from / c);
        const long long end = min(to, (long long)(row + 1) * c);
        float mine = 0;
        for (long long k = from + threadIdx.x; k < end; k += 256) mine += x[k];
        const float total = block_sum(mine);
        const int first = (int)((long long)row * c / share), last = (int)(((long long)(row + 1) * c - 1) / share);
        if (threadIdx.x == 0) {
            partial[(long long)row * 132 + (block - first)] = total;
            __threadfence();
            // The last of those that have a part of this row adds them up; the counter is then 0 again.
            if (atomicInc(&done_of[row], last - first) == (unsigned)(last - first)) {
                __threadfence();
                float sum = 0;
                for (int k = 0; k <= last - first; k++) sum += __ldcg(&partial[(long long)row * 132 + k]);
                y[row] = sum;
            }
        }
        from = end;
    }
#elif CASE_stealing
    __shared__ unsigned mine_now;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) mine_now = atomicAdd(&next_row, 1);
        __syncthreads();
        const unsigned row = mine_now;
        if (row >= r) break;
        float mine = 0;
        for (int k = threadIdx.x; k < c; k += 256) mine += x[(long long)row * c + k];
        const float total = block_sum(mine);
        if (threadIdx.x == 0) y[row] = total;
    }
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&blocks_out, 1) == blocks - 1) next_row = 0, blocks_out = 0;
    }
#elif CASE_big_shared
    float *space = (float *)dynamic;
    const int room = 163840 / 4 / c;
    for (int first = block * room; first < r; first += blocks * room) {
        const int count = min(room, r - first);
        for (int k = threadIdx.x; k < count * c; k += 256) space[k] = x[(long long)first * c + k];
        __syncthreads();
        for (int row = 0; row < count; row++) {
            float mine = 0;
            for (int k = threadIdx.x; k < c; k += 256) mine += space[row * c + k];
            const float total = block_sum(mine);
            if (threadIdx.x == 0) y[first + row] = total;
        }
        __syncthreads();
    }
#elif CASE_cp_async
    float *space = (float *)dynamic;
    for (int row = block; row < r; row += blocks) {
        for (int k = threadIdx.x; k < c; k += 256) copy4(space + k, x + (long long)row * c + k);
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        float mine = 0;
        for (int k = (threadIdx.x + 64) % 256; k < c; k += 256) mine += space[k];
        const float total = block_sum(mine);
        if (threadIdx.x == 0) y[row] = total;
        __syncthreads();
    }
#elif CASE_bulk_copy
    float *space = (float *)dynamic;
    const int stride = 20000;
    int row = block, side = 0;
    for (int k = threadIdx.x; row < r && k < c; k += 256) copy4(space + k, x + (long long)row * c + k);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (; row < r; row += blocks, side ^= 1) {
        const int next = row + blocks;
        for (int k = threadIdx.x; next < r && k < c; k += 256) copy4(space + (side ^ 1) * stride + k, x + (long long)next * c + k);
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        float mine = 0;
        for (int k = (threadIdx.x + 96) % 256; k < c; k += 256) mine += space[side * stride + k];
        const float total = block_sum(mine);
        if (threadIdx.x == 0) y[row] = total;
        __syncthreads();
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#elif CASE_constant
    for (int row = block; row < r; row += blocks) {
        float mine = 0;
        for (int k = threadIdx.x; k < c; k += 256) mine += ones[k & 3] * x[(long long)row * c + k];
        const float total = block_sum(mine);
        if (threadIdx.x == 0) y[row] = total;
    }
#elif CASE_exits_early
    // Only every second block works, and each begins when it likes.
    const int workers = (blocks + 1) / 2;
    if (block % 2) return;
    __nanosleep(block * 40 % 1000);
    for (int row = block / 2; row < r; row += workers) {
        float mine = 0;
        for (int k = threadIdx.x; k < c; k += 256) mine += x[(long long)row * c + k];
        const float total = block_sum(mine);
        if (threadIdx.x == 0) y[row] = total;
    }
#else
    for (int row = block; row < r; row += blocks) {
        float mine = 0;
        for (int k = threadIdx.x; k < c; k += 256) mine += x[(long long)row * c + k];
        const float total = block_sum(mine);
        if (threadIdx.x == 0) y[row] = total;
    }
#endif
}
