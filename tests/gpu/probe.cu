// What a GPU does at best: nothing, and moving bytes. Arguments as crates/kiln-loop/examples/gpu.rs gives them.

extern "C" __global__ void empty(const uint4 *from, uint4 *to) {}

// Next to nothing, but it can be seen that it ran.
extern "C" __global__ void tick(const uint4 *from, unsigned *to) {
    if (threadIdx.x == 0) ++*to;
}

extern "C" __global__ void copy(const uint4 *from, uint4 *to) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}
