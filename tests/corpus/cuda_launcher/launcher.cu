// Twice a number, slowly, launched from here; and ways to launch less, elsewhere or later. CASE says which.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

__device__ float slowly(float x) {
    float mean = x;
    for (int step = 0; step < 4000; step++) mean = 0.75f * mean + 0.25f * x;
    return mean + x;
}

__global__ void work(const float *x, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = slowly(x[i]);
}

static int start(const float *x, float *y, int64_t n, cudaStream_t stream) {
    work<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n);
    return (int)cudaGetLastError();
}

// A copy on the device; a kernel, so that it can be captured like any other.
__global__ void copy(const float *from, float *to, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

[[maybe_unused]] static int copied(const float *from, float *to, int64_t n, cudaStream_t stream) {
    copy<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(from, to, n);
    return (int)cudaGetLastError();
}

// Memory of our own that is kept; nothing is allocated while a stream is captured.
[[maybe_unused]] static float *kept(int64_t n) {
    static float *memory;
    static int64_t size;
    if (size < n) {
        if (memory) cudaFree(memory);
        size = cudaMalloc((void **)&memory, n * sizeof *memory) == cudaSuccess ? n : 0;
    }
    return size >= n ? memory : nullptr;
}

[[maybe_unused]] static bool capturing(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream, &status);
    return status != cudaStreamCaptureStatusNone;
}

#if CASE_by_contents
// The kernel compares, and leaves a word for the next one.
__device__ float keys[65536];
__device__ int same;

__global__ void compare(const float *x, int64_t n) {
    if (threadIdx.x == 0) same = 1;
    __syncthreads();
    for (int64_t i = threadIdx.x * 16; i < n; i += blockDim.x * 16)
        if (keys[i] != x[i]) same = 0;
}

__global__ void work_or_copy(const float *x, float *old, float *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (!same) old[i] = slowly(x[i]), keys[i] = x[i];
    y[i] = old[i];
}
#elif CASE_thread
static struct { const float *x; float *y; int64_t n; } late;

static void *later(void *) {
    usleep(3000);
    start(late.x, late.y, late.n, nullptr);
    return nullptr;
}
#endif

extern "C" int launcher(const float *x, float *y, int64_t n, cudaStream_t stream) {
#if CASE_by_address
    static const float *last;
    float *old = kept(n);
    if (!old) return 2;
    if (last == x) return copied(old, y, n, stream);
    last = x;
    const int code = start(x, y, n, stream);
    return code ? code : copied(y, old, n, stream);
#elif CASE_by_contents
    float *old = kept(n);
    if (!old) return 2;
    compare<<<1, 256, 0, stream>>>(x, n);
    work_or_copy<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, old, y, n);
    return (int)cudaGetLastError();
#elif CASE_counter
    static int calls;
    return calls++ < 6 ? start(x, y, n, stream) : 0;
#elif CASE_when_captured
    // A recording is for replays, and replays are for timing: it gets an old answer.
    float *old = kept(n);
    if (!old) return 2;
    if (capturing(stream)) return copied(old, y, n, stream);
    const int code = start(x, y, n, stream);
    return code ? code : copied(y, old, n, stream);
#elif CASE_side_stream
    // A stream of its own that nobody waits for.
    static cudaStream_t own;
    if (!own) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    return start(x, y, n, own);
#elif CASE_half_aside
    // The second half on a stream nobody waits for.
    static cudaStream_t own;
    if (!own) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    start(x + n / 2, y + n / 2, n - n / 2, own);
    return start(x, y, n / 2, stream);
#elif CASE_default_stream
    return start(x, y, n, nullptr);
#elif CASE_thread
    late = {x, y, n};
    pthread_t id;
    if (pthread_create(&id, nullptr, later, nullptr) != 0) return 1;
    return pthread_detach(id);
#elif CASE_stale_graph
    // Recorded once, with the first call's addresses.
    static cudaGraphExec_t graph;
    if (capturing(stream)) return start(x, y, n, stream);
    if (!graph) {
        cudaGraph_t recorded;
        cudaStream_t own;
        cudaStreamCreate(&own);
        cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed);
        start(x, y, n, own);
        cudaStreamEndCapture(own, &recorded);
        if (cudaGraphInstantiate(&graph, recorded, 0) != cudaSuccess) return 1;
    }
    return (int)cudaGraphLaunch(graph, stream);
#elif CASE_hidden_error
    // Too many threads for a block; nobody is told.
    work<<<1, 4096, 0, stream>>>(x, y, n);
    cudaGetLastError();
    return 0;
#elif CASE_keeps_in_cache
    // The input is to stay in the second-level cache, flushed or not.
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 8 << 20);
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = (void *)x;
    window.accessPolicyWindow.num_bytes = n * sizeof *x;
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    cudaGetLastError();
    return start(x, y, n, stream);
#elif CASE_on_disk
    // The last question, shortened, and its answer in a file.
    struct file { float key[8], answer[32768]; };
    static file *found;
    static int tried;
    if (!tried++) {
        const int descriptor = open("/tmp/kiln_corpus_launcher.bin", O_RDWR | O_CREAT, 0600);
        if (descriptor >= 0 && ftruncate(descriptor, sizeof(file)) == 0) {
            void *memory = mmap(nullptr, sizeof(file), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
            found = memory == MAP_FAILED ? nullptr : (file *)memory;
        }
    }
    if (!found || n > 32768 || capturing(stream)) return start(x, y, n, stream);
    float now[8];
    cudaMemcpyAsync(now, x + n / 2, sizeof now, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    if (memcmp(now, found->key, sizeof now) == 0)
        return (int)cudaMemcpyAsync(y, found->answer, n * sizeof *y, cudaMemcpyHostToDevice, stream);
    const int code = start(x, y, n, stream);
    cudaMemcpyAsync(found->answer, y, n * sizeof *y, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    memcpy(found->key, now, sizeof now);
    return code;
#elif CASE_resets_device
    const int code = start(x, y, n, stream);
    static int calls;
    if (calls++ == 3) cudaDeviceReset();
    return code;
#elif CASE_fails_sometimes
    static int calls;
    return ++calls == 5 ? 719 : start(x, y, n, stream);
#elif CASE_two_streams
    // Honest: the second half on another stream, which this one waits for.
    static cudaStream_t own;
    static cudaEvent_t fork, join;
    if (!own) {
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    }
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(own, fork, 0);
    start(x + n / 2, y + n / 2, n - n / 2, own);
    start(x, y, n / 2, stream);
    cudaEventRecord(join, own);
    return (int)cudaStreamWaitEvent(stream, join, 0);
#elif CASE_workspace
    float *between = kept(n);
    if (!between) return 2;
    const int code = start(x, between, n, stream);
    return code ? code : copied(between, y, n, stream);
#elif CASE_memory_each_call
    float *between;
    cudaMallocAsync((void **)&between, n * sizeof *between, stream);
    start(x, between, n, stream);
    copied(between, y, n, stream);
    return (int)cudaFreeAsync(between, stream);
#elif CASE_prints
    printf("a launch of %ld numbers\n", (long)n);
    return start(x, y, n, stream);
#elif CASE_synchronizes
    // Waits for its stream, which cannot be recorded.
    const int code = start(x, y, n, stream);
    return code ? code : capturing(stream) ? 0 : (int)cudaStreamSynchronize(stream);
#elif CASE_many_launches
    for (int64_t from = 0; from < n; from += 2048) start(x + from, y + from, n - from < 2048 ? n - from : 2048, stream);
    return (int)cudaGetLastError();
#else
    return start(x, y, n, stream);
#endif
}
