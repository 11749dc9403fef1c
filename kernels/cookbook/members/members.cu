/* Four steps of position += 0.01 * speed for N particles of eight members, which `prepare` writes and `finish` reads. Steps need two of the
 * eight. Where the layout is your own, as here, give each member an array. */
struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

extern "C" __global__ void __launch_bounds__(256)
prepare(const float *__restrict__ x, const float *__restrict__ v, float *__restrict__ y, Particle *p, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
#if LAYOUT_arrays
    float *const own = reinterpret_cast<float *>(p);
    own[i] = x[i], own[4 * n + i] = v[i];
    own[n + i] = own[2 * n + i] = own[5 * n + i] = own[6 * n + i] = 0.0f;
    own[3 * n + i] = own[7 * n + i] = 1.0f;
#else
    p[i] = Particle{x[i], 0.0f, 0.0f, 1.0f, v[i], 0.0f, 0.0f, 1.0f};
#endif
}

extern "C" __global__ void __launch_bounds__(256)
members(const float *__restrict__ x, const float *__restrict__ v, float *__restrict__ y, Particle *p, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
#if LAYOUT_arrays
    float *const own = reinterpret_cast<float *>(p);
    own[i] += 0.01f * own[4 * n + i];
#else
    p[i].x += 0.01f * p[i].vx;
#endif
}

extern "C" __global__ void __launch_bounds__(256)
finish(const float *__restrict__ x, const float *__restrict__ v, float *__restrict__ y, Particle *p, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
#if LAYOUT_arrays
    y[i] = reinterpret_cast<const float *>(p)[i];
#else
    y[i] = p[i].x;
#endif
}
