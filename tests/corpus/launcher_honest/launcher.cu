// Twice a number, slowly, launched in honest but unusual ways. CASE says which.
#include <atomic>
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda_runtime.h>
#include <map>
#include <thread>
#include <unistd.h>
#include <utility>

__device__ float mean_of(float x, float mean, int steps) {
    for (int step = 0; step < steps; step++) mean = 0.75f * mean + 0.25f * x;
    return mean;
}

__device__ float slowly(float x) { return mean_of(x, x, 4000) + x; }

__global__ void work(const float *x, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = slowly(x[i]);
}

[[maybe_unused]] static int start(const float *x, float *y, int64_t n, cudaStream_t stream, int block = 256) {
    work<<<(unsigned)((n + block - 1) / block), block, 0, stream>>>(x, y, n);
    return (int)cudaGetLastError();
}

[[maybe_unused]] static bool capturing(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream, &status);
    return status != cudaStreamCaptureStatusNone;
}

// Memory that is kept, made by the first call with so many numbers, which is never recorded.
template <typename Make> [[maybe_unused]] static float *kept(int64_t n, Make make) {
    static std::map<int64_t, float *> all;
    auto found = all.find(n);
    if (found != all.end()) return found->second;
    float *memory = nullptr;
    if (make(&memory) != cudaSuccess) return nullptr;
    return all[n] = memory;
}

#if CASE_programmatic
__global__ void work_behind(const float *x, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    if (i < n) y[i] = slowly(x[i]);
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
#elif CASE_texture
__global__ void work_texture(cudaTextureObject_t x, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = slowly(tex1Dfetch<float>(x, (int)i));
}
#elif CASE_constant
__constant__ float factor;
__global__ void work_constant(const float *x, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = slowly(x[i]) * factor;
}
#elif CASE_two_kernels
__global__ void first_half(const float *x, float *between, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) between[i] = mean_of(x[i], x[i], 2000);
}
__global__ void second_half(const float *x, const float *between, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = mean_of(x[i], between[i], 2000) + x[i];
}
#elif CASE_memset_flag
__global__ void work_ticket(const float *x, float *y, int64_t n, unsigned *tickets) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = atomicAdd(tickets, 1);
    __syncthreads();
    const int64_t i = mine * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = slowly(x[i]);
}
#elif CASE_occupancy
__global__ void work_walk(const float *x, float *y, int64_t n) {
    const int64_t step = gridDim.x * (int64_t)blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) y[i] = slowly(x[i]);
}
#elif CASE_cluster
__global__ void __cluster_dims__(2, 1, 1) work_cluster(const float *x, float *y, int64_t n) {
    namespace cg = cooperative_groups;
    __shared__ float space[256];
    cg::cluster_group cluster = cg::this_cluster();
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    space[threadIdx.x] = i < n ? x[i] : 0;
    cluster.sync();
    // Each block computes the other's numbers and puts them back.
    float *theirs = cluster.map_shared_rank(space, cluster.block_rank() ^ 1);
    const float answer = slowly(theirs[threadIdx.x]);
    cluster.sync();
    theirs[threadIdx.x] = answer;
    cluster.sync();
    if (i < n) y[i] = space[threadIdx.x];
}
#elif CASE_host_callback
static std::atomic<long> calls;
static void CUDART_CB counted(void *) { calls++; }
#elif CASE_busy_thread
static std::atomic<long> calls, shown;
#endif

extern "C" int launcher(const float *x, float *y, int64_t n, cudaStream_t stream) {
    [[maybe_unused]] const unsigned grid = (unsigned)((n + 255) / 256);
#if CASE_child_graph
    // A small graph of two halves: put into the recorded graph as one node, or made ready and launched.
    static cudaStream_t own;
    if (!own) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaGraph_t halves, graph = nullptr;
    cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
    start(x, y, n / 2, own);
    start(x + n / 2, y + n / 2, n - n / 2, own);
    if (cudaStreamEndCapture(own, &halves) != cudaSuccess) return 1;
    cudaError_t code;
    if (capturing(stream)) {
        cudaStreamCaptureStatus status;
        const cudaGraphNode_t *after = nullptr;
        size_t count = 0;
        cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
        const cudaGraphEdgeData *edges = nullptr;
        cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, &edges, &count);
        code = cudaGraphAddChildGraphNode(&node, graph, after, count, halves);
        if (code == cudaSuccess) code = cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies);
#else
        cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &after, &count);
        code = cudaGraphAddChildGraphNode(&node, graph, after, count, halves);
        if (code == cudaSuccess) code = cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies);
#endif
    } else {
        cudaGraphExec_t ready;
        code = cudaGraphInstantiate(&ready, halves, 0);
        if (code == cudaSuccess) {
            code = cudaGraphLaunch(ready, stream);
            cudaGraphExecDestroy(ready);
        }
    }
    cudaGraphDestroy(halves);
    return (int)code;
#elif CASE_programmatic
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(grid), launch.blockDim = dim3(256), launch.stream = stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    launch.attrs = &attribute, launch.numAttrs = 1;
    return (int)cudaLaunchKernelEx(&launch, work_behind, x, y, n);
#elif CASE_host_callback
    const int code = start(x, y, n, stream);
    return code ? code : (int)cudaLaunchHostFunc(stream, counted, nullptr);
#elif CASE_texture
    static std::map<std::pair<const float *, int64_t>, cudaTextureObject_t> textures;
    auto key = std::make_pair(x, n);
    if (!textures.count(key)) {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = (void *)x;
        resource.res.linear.desc = cudaCreateChannelDesc<float>();
        resource.res.linear.sizeInBytes = n * sizeof *x;
        cudaTextureDesc texture = {};
        texture.readMode = cudaReadModeElementType;
        cudaTextureObject_t made = 0;
        const cudaError_t code = cudaCreateTextureObject(&made, &resource, &texture, nullptr);
        // Addresses that begin in the middle of a texture's line cannot be one.
        if (code != cudaSuccess) return cudaGetLastError(), start(x, y, n, stream);
        textures[key] = made;
    }
    work_texture<<<grid, 256, 0, stream>>>(textures[key], y, n);
    return (int)cudaGetLastError();
#elif CASE_constant
    static bool set;
    if (!set) {
        const float one = 1;
        if (capturing(stream)) return start(x, y, n, stream);
        if (cudaMemcpyToSymbol(factor, &one, sizeof one) != cudaSuccess) return 1;
        set = true;
    }
    work_constant<<<grid, 256, 0, stream>>>(x, y, n);
    return (int)cudaGetLastError();
#elif CASE_four_streams
    static cudaStream_t own[4];
    static cudaEvent_t fork, join[4];
    if (!fork) {
        int low, high;
        cudaDeviceGetStreamPriorityRange(&low, &high);
        for (int k = 0; k < 4; k++) {
            cudaStreamCreateWithPriority(&own[k], cudaStreamNonBlocking, k % 2 ? high : low);
            cudaEventCreateWithFlags(&join[k], cudaEventDisableTiming);
        }
        cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    }
    cudaEventRecord(fork, stream);
    for (int k = 0; k < 4; k++) {
        const int64_t from = n * k / 4, to = n * (k + 1) / 4;
        cudaStreamWaitEvent(own[k], fork, 0);
        if (to > from) start(x + from, y + from, to - from, own[k]);
        cudaEventRecord(join[k], own[k]);
        cudaStreamWaitEvent(stream, join[k], 0);
    }
    return (int)cudaGetLastError();
#elif CASE_tries_first
    static std::map<int64_t, int> best;
    if (!best.count(n)) {
        if (capturing(stream)) return start(x, y, n, stream);
        cudaEvent_t from, to;
        cudaEventCreate(&from), cudaEventCreate(&to);
        float least = 1e9f;
        for (int block : {64, 128, 256}) {
            cudaEventRecord(from, stream);
            start(x, y, n, stream, block);
            cudaEventRecord(to, stream);
            cudaEventSynchronize(to);
            float took = 0;
            cudaEventElapsedTime(&took, from, to);
            if (took < least) least = took, best[n] = block;
        }
        cudaEventDestroy(from), cudaEventDestroy(to);
    }
    return start(x, y, n, stream, best[n]);
#elif CASE_copy_2d
    // Rows of 17 numbers, 32 apart; the last numbers by themselves.
    const int64_t rows = n / 17;
    float *space = kept(n, [&](float **memory) { return cudaMalloc((void **)memory, (rows + 1) * 32 * sizeof(float)); });
    if (!space) return 2;
    for (int64_t part = 0; part < 2; part++) {
        const int64_t from = rows * part / 2, to = rows * (part + 1) / 2;
        if (to == from) continue;
        cudaMemcpy2DAsync(space + from * 32, 128, x + from * 17, 68, 68, to - from, cudaMemcpyDeviceToDevice, stream);
        // Padding is computed as well, and not copied.
        start(space + from * 32, space + from * 32, (to - from) * 32, stream);
        cudaMemcpy2DAsync(y + from * 17, 68, space + from * 32, 128, 68, to - from, cudaMemcpyDeviceToDevice, stream);
    }
    if (n % 17) start(x + rows * 17, y + rows * 17, n % 17, stream);
    return (int)cudaGetLastError();
#elif CASE_managed || CASE_pinned
#if CASE_managed
    float *space = kept(n, [&](float **memory) { return cudaMallocManaged((void **)memory, n * sizeof(float)); });
#else
    float *space = kept(n, [&](float **memory) { return cudaMallocHost((void **)memory, n * sizeof(float)); });
#endif
    if (!space) return 2;
    start(x, space, n / 2, stream);
    cudaMemcpyAsync(y, space, n / 2 * sizeof *y, cudaMemcpyDefault, stream);
    return start(x + n / 2, y + n / 2, n - n / 2, stream);
#elif CASE_two_kernels
    float *space = kept(n, [&](float **memory) { return cudaMalloc((void **)memory, n * sizeof(float)); });
    if (!space) return 2;
    first_half<<<grid, 256, 0, stream>>>(x, space, n);
    second_half<<<grid, 256, 0, stream>>>(x, space, y, n);
    return (int)cudaGetLastError();
#elif CASE_other_thread
    int code = 0;
    std::thread([&] { code = start(x, y, n, stream); }).join();
    return code;
#elif CASE_memset_flag
    unsigned *tickets = (unsigned *)kept(1, [&](float **memory) { return cudaMalloc((void **)memory, 4); });
    if (!tickets) return 2;
    cudaMemsetAsync(tickets, 0, 4, stream);
    work_ticket<<<grid, 256, 0, stream>>>(x, y, n, tickets);
    return (int)cudaGetLastError();
#elif CASE_async_pool
    static cudaMemPool_t pool;
    if (!pool) {
        cudaMemPoolProps about = {};
        about.allocType = cudaMemAllocationTypePinned;
        about.location.type = cudaMemLocationTypeDevice;
        about.location.id = 0;
        if (cudaMemPoolCreate(&pool, &about) != cudaSuccess) return 1;
    }
    float *space = nullptr;
    if (cudaMallocFromPoolAsync((void **)&space, n * sizeof *space, pool, stream) != cudaSuccess) return 2;
    start(x, space, n, stream);
    cudaMemcpyAsync(y, space, n * sizeof *y, cudaMemcpyDeviceToDevice, stream);
    return (int)cudaFreeAsync(space, stream);
#elif CASE_occupancy
    int least = 0, block = 0;
    if (cudaOccupancyMaxPotentialBlockSize(&least, &block, work_walk, 0, 0) != cudaSuccess) return 1;
    work_walk<<<least, block > 256 ? 256 : block, 0, stream>>>(x, y, n);
    return (int)cudaGetLastError();
#elif CASE_busy_thread
    static bool started;
    if (!started) {
        std::thread([] { for (;;) shown = calls.load(), usleep(100); }).detach();
        started = true;
    }
    calls++;
    return start(x, y, n, stream);
#elif CASE_cluster
    work_cluster<<<(grid + 1) / 2 * 2, 256, 0, stream>>>(x, y, n);
    return (int)cudaGetLastError();
#else
    return start(x, y, n, stream);
#endif
}
