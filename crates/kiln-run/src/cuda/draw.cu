// Fresh numbers for the timed calls of a GPU, and a look at what is kept there: kiln's own kernels, which know keys that no
// candidate gets. draw.ptx is made from this file by scripts/ptx.sh; draw.rs launches them.
//
// Counter-based (Philox4x32-10, Salmon et al. 2011): a number follows from the key, the call, the slot and its place alone,
// so that every worker draws the same for the same call, whatever else it drew.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

typedef unsigned long long u64;

// What is drawn, as draw.rs lays it out.
struct Fill {
    u64 base;      // the slot's address in the first set
    u64 stride;    // bytes from one set to the next
    u64 first;     // the number of the call that the first set is for
    u64 seed;
    u64 elements;
    u64 span;      // integers: how many beyond `low` there are
    long long low;
    double least, most;  // numbers with fractions
    unsigned slot, dtype, kind, rank;  // rank 0: one after another
    u64 shape[6], strides[6];
};
enum { NORMAL, REAL, WHOLE };
enum { F32, F64, F16, BF16, E4M3, E5M2, I8, I16, I32, I64 };

__device__ uint4 philox(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
        unsigned high1 = __umulhi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
        counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

// Two normal numbers of two words.
__device__ float2 normals(unsigned one, unsigned two) {
    // Never 0, whose logarithm is no number.
    float radius = sqrtf(-2.0f * logf(fmaf((float)one, 0x1p-32f, 0x1p-33f)));
    float sine, cosine;
    sincospif(fmaf((float)two, 0x1p-31f, 0x1p-32f), &sine, &cosine);
    return make_float2(radius * cosine, radius * sine);
}

__device__ unsigned short brain(float value) {
    unsigned bits = __float_as_uint(value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ u64 place(const Fill &fill, u64 element) {
    if (fill.rank == 0) return element;
    u64 at = 0;
#pragma unroll 1
    for (int d = (int)fill.rank - 1; d >= 0; d--) {
        at += element % fill.shape[d] * fill.strides[d];
        element /= fill.shape[d];
    }
    return at;
}

__device__ void store(unsigned char *slot, const Fill &fill, u64 at, double wide, long long whole) {
    float value = (float)wide;
    switch (fill.dtype) {
    case F32: ((float *)slot)[at] = value; break;
    case F64: ((double *)slot)[at] = wide; break;
    case F16: ((__half *)slot)[at] = __float2half_rn(value); break;
    case BF16: ((unsigned short *)slot)[at] = brain(value); break;
    case E4M3: slot[at] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3); break;
    case E5M2: slot[at] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2); break;
    case I8: ((signed char *)slot)[at] = (signed char)whole; break;
    case I16: ((short *)slot)[at] = (short)whole; break;
    case I32: ((int *)slot)[at] = (int)whole; break;
    default: ((long long *)slot)[at] = whole; break;
    }
}

extern "C" __global__ void __launch_bounds__(256) kiln_draw(const __grid_constant__ Fill fill) {
    unsigned char *slot = (unsigned char *)(fill.base + blockIdx.y * fill.stride);
    const u64 call = fill.first + blockIdx.y;
    const uint2 key = make_uint2((unsigned)fill.seed, (unsigned)(fill.seed >> 32));
    const u64 fours = (fill.elements + 3) / 4;
    const bool wide = fill.kind == WHOLE || fill.dtype == F64;
    for (u64 four = (u64)blockIdx.x * blockDim.x + threadIdx.x; four < fours; four += (u64)gridDim.x * blockDim.x) {
        uint4 counter = make_uint4((unsigned)four, (unsigned)(four >> 32) | fill.slot << 16, (unsigned)call, (unsigned)(call >> 32));
        const uint4 drawn = philox(counter, key);
        const unsigned words[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
        const u64 element = 4 * four;
        const int count = fill.elements - element < 4 ? (int)(fill.elements - element) : 4;
        float values[4];
        if (fill.kind == NORMAL) {
            const float2 one = normals(words[0], words[1]), two = normals(words[2], words[3]);
            values[0] = one.x, values[1] = one.y, values[2] = two.x, values[3] = two.y;
        } else {
            const float least = (float)fill.least, width = (float)(fill.most - fill.least);
            for (int i = 0; i < 4; i++) values[i] = fmaf((float)(words[i] >> 8) * 0x1p-24f, width, least);
        }
        // What most inputs are, in one store.
        if (!wide && fill.rank == 0 && count == 4 && fill.dtype == F32) {
            ((float4 *)slot)[four] = make_float4(values[0], values[1], values[2], values[3]);
            continue;
        }
        if (!wide && fill.rank == 0 && count == 4 && fill.dtype == BF16) {
            ((ushort4 *)slot)[four] = make_ushort4(brain(values[0]), brain(values[1]), brain(values[2]), brain(values[3]));
            continue;
        }
        if (!wide && fill.rank == 0 && count == 4 && fill.dtype == F16) {
            const __half2 one = __floats2half2_rn(values[0], values[1]), two = __floats2half2_rn(values[2], values[3]);
            ((uint2 *)slot)[four] = make_uint2(*(const unsigned *)&one, *(const unsigned *)&two);
            continue;
        }
        unsigned more[4] = {0, 0, 0, 0};
        if (wide) {
            counter.y |= 0x8000u;
            const uint4 second = philox(counter, key);
            more[0] = second.x, more[1] = second.y, more[2] = second.z, more[3] = second.w;
        }
#pragma unroll 1
        for (int i = 0; i < count; i++) {
            const u64 random = (u64)words[i] << 32 | more[i];
            const u64 beyond = fill.span == ~0ull ? random : __umul64hi(random, fill.span + 1);
            const long long whole = fill.low + (long long)beyond;
            // Bits beyond those of a float, too.
            double number = (double)values[i] * (1.0 + (double)more[i] * 0x1p-56);
            if (fill.kind == REAL && fill.dtype == F64) {
                number = fill.least + (double)(random >> 11) * 0x1p-53 * (fill.most - fill.least);
            }
            if (fill.kind == WHOLE) number = (double)whole;
            store(slot, fill, place(fill, element + i), number, whole);
        }
    }
}

// Copies a stretch of an image into every set. Both ends are multiples of 16.
extern "C" __global__ void __launch_bounds__(256) kiln_spread(u64 sets, u64 stride, u64 image, u64 start, u64 end) {
    const uint4 *from = (const uint4 *)(image + start);
    uint4 *to = (uint4 *)(sets + blockIdx.y * stride + start);
    const u64 count = (end - start) / 16;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) to[i] = from[i];
}

// Adds up what an image holds, every word with its place and under a key: nobody else can change the one and keep the other.
extern "C" __global__ void __launch_bounds__(256) kiln_sum(u64 image, u64 words, u64 key, u64 total) {
    u64 sum = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += (u64)gridDim.x * blockDim.x) {
        u64 word = (((const u64 *)image)[i] ^ key) + i * 0x9E3779B97F4A7C15ull;
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ull;
        word = (word ^ word >> 27) * 0x94D049BB133111EBull;
        sum += word ^ word >> 31;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd((u64 *)total, sum);
}
