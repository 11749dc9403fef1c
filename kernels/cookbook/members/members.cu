/* y = position + dt * speed of N particles. Both are two of eight members of a structure (`structs`), or an array each (`arrays`).
 * `pieces` loads the structure's 16-byte halves: as many sectors, for members that nobody wants. */
struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

extern "C" __global__ void __launch_bounds__(256)
members(const Particle *__restrict__ p, const float *__restrict__ apart, float *__restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
#if LAYOUT_arrays
    y[i] = apart[i] + 0.01f * apart[4 * n + i];
#elif LAYOUT_pieces
    const float4 first = reinterpret_cast<const float4 *>(p)[2 * i], second = reinterpret_cast<const float4 *>(p)[2 * i + 1];
    y[i] = first.x + 0.01f * second.x;
#else
    y[i] = p[i].x + 0.01f * p[i].vx;
#endif
}
