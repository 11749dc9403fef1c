/* What every launcher that kiln exports needs: the arithmetic of kernel files, the nearest of the tuned shapes, cubins, TMA
 * descriptors, launches. Needs C++17 and the CUDA driver API. Errors are thrown as kiln::Error and end at the C function. */
#ifndef KILN_LAUNCH_HPP
#define KILN_LAUNCH_HPP

#include <cuda.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kiln {

struct Error : std::runtime_error {
    CUresult code;
    Error(CUresult code, const std::string &words) : std::runtime_error(words), code(code) {}
};

inline void check(const char *call, CUresult code) {
    if (code == CUDA_SUCCESS) return;
    const char *words = nullptr;
    cuGetErrorString(code, &words);
    throw Error(code, std::string(call) + ": " + (words ? words : "unknown error"));
}

[[noreturn]] inline void invalid(const std::string &words) { throw Error(CUDA_ERROR_INVALID_VALUE, words); }

/* Arithmetic as in Python: integers stay integers, `//` and `%` round down, `/` is a double. */
template <class A> bool truth(const A &a) {
    if constexpr (std::is_convertible_v<A, std::string_view>)
        return !std::string_view(a).empty();
    else
        return a != A(0);
}
template <class A, class B> constexpr bool whole_v = std::is_integral_v<A> && std::is_integral_v<B>;
template <class A, class B> double divide(A a, B b) {
    if (b == B(0)) invalid("division by zero");
    return double(a) / double(b);
}
template <class A, class B> auto floordiv(A a, B b) {
    if (b == B(0)) invalid("division by zero");
    if constexpr (whole_v<A, B>) {
        int64_t x = a, y = b, q = x / y;
        return q - int64_t(x % y != 0 && (x < 0) != (y < 0));
    } else {
        return std::floor(double(a) / double(b));
    }
}
template <class A, class B> auto floormod(A a, B b) {
    if constexpr (whole_v<A, B>)
        return int64_t(a) - floordiv(a, b) * int64_t(b);
    else
        return double(a) - floordiv(a, b) * double(b);
}
template <class A, class B> auto ceildiv(A a, B b) { return -floordiv(-a, b); }
template <class A, class B> auto power(A a, B b) {
    if constexpr (whole_v<A, B>) {
        if (b < B(0)) invalid("a negative power of an integer");
        int64_t product = 1;
        for (int64_t i = 0; i < int64_t(b); i++) product *= a;
        return product;
    } else {
        return std::pow(double(a), double(b));
    }
}
template <class A> A least(A a) { return a; }
template <class A, class B, class... More> auto least(A a, B b, More... more) {
    using C = std::common_type_t<A, B>;
    return least(C(b) < C(a) ? C(b) : C(a), more...);
}
template <class A> A greatest(A a) { return a; }
template <class A, class B, class... More> auto greatest(A a, B b, More... more) {
    using C = std::common_type_t<A, B>;
    return greatest(C(b) > C(a) ? C(b) : C(a), more...);
}
template <class A> auto magnitude(A a) { return a < A(0) ? -a : +a; }
template <class A> int64_t rounded(A a) { return int64_t(std::nearbyint(double(a))); }
template <class A, class B> double rounded(A a, B digits) {
    double scale = std::pow(10.0, double(digits));
    return std::nearbyint(double(a) * scale) / scale;
}
template <class A> int64_t whole(A a) { return int64_t(a); }
template <class A> double real(A a) { return double(a); }
template <class A> double root(A a) { return std::sqrt(double(a)); }
template <class A> double binary_log(A a) { return std::log2(double(a)); }

/* Whether a rule holds; one that cannot be evaluated does not. */
template <class F> bool meets(F rule) {
    try {
        return rule();
    } catch (const Error &) {
        return false;
    }
}

/* A value in a message. */
template <class A> std::string said(A a) {
    if constexpr (std::is_convertible_v<A, std::string_view>) {
        return std::string(std::string_view(a));
    } else if constexpr (std::is_integral_v<A>) {
        return std::to_string(a);
    } else {
        char words[32];
        std::snprintf(words, sizeof words, "%g", double(a));
        return words;
    }
}

/* A number on its way to a slot of any type. */
struct Number {
    bool integral;
    int64_t i;
    double d;
};
template <class A> Number number(A a) {
    return {std::is_integral_v<A>, int64_t(a), double(a)};
}

enum class Type { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

inline size_t bytes_of(Type type) {
    switch (type) {
    case Type::f64: case Type::i64: case Type::u64: return 8;
    case Type::f32: case Type::i32: case Type::u32: return 4;
    case Type::f16: case Type::bf16: case Type::i16: case Type::u16: return 2;
    default: return 1;
    }
}

inline uint16_t bfloat_bits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline uint16_t half_bits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x47800000) return uint16_t(sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00));
    if (magnitude < 0x38800000) {
        float scaled = std::fabs(value) * 16777216.0f; /* 2^24: units of the smallest half */
        return uint16_t(sign | uint32_t(std::nearbyint(scaled)));
    }
    uint32_t rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1);
    return uint16_t(sign | (rounded >> 13));
}

template <class V> void put(void *slot, V value) { std::memcpy(slot, &value, sizeof value); }

inline void store(void *slot, Type type, Number n) {
    double d = n.integral ? double(n.i) : n.d;
    int64_t i = n.integral ? n.i : int64_t(n.d);
    switch (type) {
    case Type::f64: return put(slot, d);
    case Type::f32: return put(slot, float(d));
    case Type::f16: return put(slot, half_bits(float(d)));
    case Type::bf16: return put(slot, bfloat_bits(float(d)));
    case Type::i64: case Type::u64: return put(slot, i);
    case Type::i32: case Type::u32: return put(slot, int32_t(i));
    case Type::i16: case Type::u16: return put(slot, int16_t(i));
    case Type::boolean: return put(slot, uint8_t(i != 0));
    default: return put(slot, int8_t(i));
    }
}

/* A side of a launch, which has 32 bits. */
template <class A> unsigned side(A a) {
    if (double(a) < 0 || double(a) > 4294967295.0) invalid("a side of a launch is out of range");
    return unsigned(a);
}

struct Launch {
    std::string entry;
    unsigned grid[3], block[3], shared, cluster[3];
    bool cooperative, clustered;
    /* Scratch that is zero before it: which argument, how many bytes. */
    std::vector<std::pair<int, size_t>> zero;
};

/* A TMA descriptor, outermost dimension first; no sides at all where a shape has none. */
struct Map {
    int tensor;
    Type type;
    std::vector<int64_t> shape, strides, box;
    int swizzle, promotion;
};

/* What a shape, a dtype and a configuration give. */
struct Geometry {
    bool allowed = false;
    /* Why not. */
    std::string why;
    std::vector<Launch> launches;
    std::vector<Number> numbers;
    std::vector<Map> maps;
    /* Places of the arguments that the kernels take. */
    std::vector<int> taken;
    /* Places of the buffers that must be there. */
    std::vector<int> held;
};

inline Geometry refused(Geometry &found, const std::string &why) {
    found.allowed = false, found.why = why;
    return std::move(found);
}

/* Refuses a grid that no GPU can launch. */
inline Geometry launchable(Geometry &found) {
    const unsigned most[3] = {2147483647u, 65535u, 65535u};
    for (const Launch &launch : found.launches)
        for (int axis = 0; axis < 3; axis++)
            if (launch.grid[axis] < 1 || launch.grid[axis] > most[axis])
                return refused(found, "a grid of " + std::to_string(launch.grid[axis]) + " blocks along " + "xyz"[axis] + ", " +
                                          std::to_string(most[axis]) + " at most");
    return std::move(found);
}

/* An output that nothing computes, because an input has no elements. Packed, in any order of its dimensions. */
inline void fill(const char *name, CUdeviceptr at, const std::vector<int64_t> &shape, const std::vector<int64_t> &strides, Type type,
                 bool stated, double value, bool nullable, CUstream stream) {
    int64_t elements = 1, span = 1;
    for (size_t i = 0; i < shape.size(); i++) {
        elements *= shape[i];
        if (!strides.empty()) span += (shape[i] - 1) * strides[i];
    }
    if (elements == 0 || (!at && nullable)) return;
    if (!at) invalid(std::string(name) + " is null");
    unsigned char bytes[8];
    store(bytes, type, Number{false, 0, value});
    uint32_t words[2];
    std::memcpy(words, bytes, 8);
    const size_t size = bytes_of(type);
    if (!stated || (!strides.empty() && span != elements) || (size == 8 && words[0] != words[1]))
        invalid(std::string("an input has no elements, and then nothing writes ") + name);
    if (size == 1)
        check("cuMemsetD8Async", cuMemsetD8Async(at, bytes[0], size_t(elements), stream));
    else if (size == 2)
        check("cuMemsetD16Async", cuMemsetD16Async(at, uint16_t(words[0]), size_t(elements), stream));
    else
        check("cuMemsetD32Async", cuMemsetD32Async(at, words[0], size_t(elements) * (size / 4), stream));
}

/* The number of the capture into a graph that a stream is in; 0 when it is in none. */
inline uint64_t capture_of(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    check("cuStreamIsCapturing", cuStreamIsCapturing(stream, &status));
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return 0;
#if CUDA_VERSION >= 13000
    check("cuStreamGetCaptureInfo", cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
#elif CUDA_VERSION >= 12000
    check("cuStreamGetCaptureInfo", cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr));
#else
    check("cuStreamGetCaptureInfo", cuStreamGetCaptureInfo(stream, &status, &id));
#endif
    return uint64_t(id) + 1;
}

/* Lets this thread load a module while a graph is captured. */
class Relaxed {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

  public:
    Relaxed() { check("cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode(&mode)); }
    ~Relaxed() { cuThreadExchangeStreamCaptureMode(&mode); }
    Relaxed(const Relaxed &) = delete;
    Relaxed &operator=(const Relaxed &) = delete;
};

inline CUtensorMapDataType element(Type type) {
    switch (type) {
    case Type::f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case Type::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case Type::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Type::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Type::i64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case Type::i32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case Type::u64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case Type::u32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case Type::i16: case Type::u16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    }
}

inline void encode(CUtensorMap *to, const Map &map, CUdeviceptr at) {
    std::memset(to, 0, sizeof *to);
    if (map.box.empty()) return;
    uint64_t shape[5], strides[5];
    uint32_t box[5], ones[5] = {1, 1, 1, 1, 1};
    size_t rank = map.shape.size();
    if (rank == 0 || rank > 5 || map.box.size() != rank || map.strides.back() != 1) invalid("a tensor that no descriptor fits");
    for (size_t i = 0; i < rank; i++) {
        size_t from = rank - 1 - i;
        shape[i] = uint64_t(map.shape[from]);
        box[i] = uint32_t(map.box[from]);
        if (i > 0) strides[i - 1] = uint64_t(map.strides[from]) * bytes_of(map.type);
    }
    check("cuTensorMapEncodeTiled",
          cuTensorMapEncodeTiled(to, element(map.type), uint32_t(rank), reinterpret_cast<void *>(at), shape, strides, box, ones,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CUtensorMapSwizzle(map.swizzle),
                                 CUtensorMapL2promotion(map.promotion), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

struct Symbol {
    const char *entry, *symbol;
};

struct Binary {
    int arch, variant, config;
    const unsigned char *image;
    std::vector<Symbol> symbols;
};

/* The symbol of a kernel in a binary; none when it was not compiled there. */
inline const char *symbol_of(const Binary &binary, const std::string &entry) {
    for (const Symbol &symbol : binary.symbols)
        if (entry == symbol.entry) return symbol.symbol;
    return nullptr;
}

inline bool holds(const Binary &binary, const Geometry &geometry) {
    for (const Launch &launch : geometry.launches)
        if (!symbol_of(binary, launch.entry)) return false;
    return true;
}

/* How far two shapes are apart, in doublings; what cannot be doubled is far when it differs. */
inline double apart(int64_t a, int64_t b) {
    if (a == b) return 0;
    return a > 0 && b > 0 ? std::fabs(std::log2(double(a)) - std::log2(double(b))) : 8;
}
inline double apart(double a, double b) {
    if (a == b) return 0;
    return a > 0 && b > 0 ? std::fabs(std::log2(a) - std::log2(b)) : 8;
}
inline double apart(const std::string &a, const std::string &b) { return a == b ? 0 : 8; }

/* Whether code for an architecture runs on a device: its own, or a plain one before it of the same generation. */
inline bool runs_on(int major, int minor, bool plain, int device_major, int device_minor) {
    return major == device_major && (minor == device_minor || (plain && minor < device_minor));
}

/* A call that is ready: everything but addresses and the stream. */
struct Prepared {
    Geometry geometry;
    std::vector<CUfunction> functions;
};

class Modules {
    using Owner = std::tuple<CUcontext, CUstream, uint64_t>;
    std::map<std::pair<Owner, const unsigned char *>, CUmodule> modules;

  public:
    CUfunction function(Owner owner, const Binary &binary, const char *symbol, const Launch &launch) {
        Relaxed relaxed;
        CUmodule &module = modules[{owner, binary.image}];
        if (!module) check("cuModuleLoadData", cuModuleLoadData(&module, binary.image));
        CUfunction function;
        check("cuModuleGetFunction", cuModuleGetFunction(&function, module, symbol));
        int fixed = 0;
        check("cuFuncGetAttribute", cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
        if (launch.shared > 0 && unsigned(fixed) + launch.shared > 48u << 10) {
            int most = 0;
            check("cuFuncGetAttribute", cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
            if (unsigned(most) < launch.shared)
                check("cuFuncSetAttribute", cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                               int(launch.shared)));
        }
        if (launch.clustered && launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 8)
            check("cuFuncSetAttribute", cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
        return function;
    }
};

inline void launch(const Launch &launch, CUfunction function, void **arguments, CUdeviceptr *buffers, CUstream stream) {
    for (const auto &[argument, bytes] : launch.zero)
        check("cuMemsetD8Async", cuMemsetD8Async(buffers[argument], 0, bytes, stream));
    CUlaunchAttribute attributes[2];
    std::memset(attributes, 0, sizeof attributes);
    unsigned count = 0;
    if (launch.cooperative) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[count++].value.cooperative = 1;
    }
    if (launch.clustered) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[count].value.clusterDim.x = launch.cluster[0];
        attributes[count].value.clusterDim.y = launch.cluster[1];
        attributes[count++].value.clusterDim.z = launch.cluster[2];
    }
    CUlaunchConfig config;
    std::memset(&config, 0, sizeof config);
    config.gridDimX = launch.grid[0], config.gridDimY = launch.grid[1], config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block[0], config.blockDimY = launch.block[1], config.blockDimZ = launch.block[2];
    config.sharedMemBytes = launch.shared;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    check("cuLaunchKernelEx", cuLaunchKernelEx(&config, function, arguments, nullptr));
}

} // namespace kiln

#endif
