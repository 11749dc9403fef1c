/* A CUDA driver without a GPU: accepts what an exported package asks for and writes each launch as a line to $STAND_IN_LOG:
 * symbol, grid, block, shared memory, stream, cluster, cooperative, then the bytes of each argument. $STAND_IN_SIZES holds the sizes
 * of the arguments, $STAND_IN_CAPABILITY the device's, such as 90. stand_in_capture() says which capture all streams are in from then on,
 * stand_in_loaded() how many modules were loaded. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned id, pad, value[16];
} Attribute;
typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    Attribute *attributes;
    unsigned count;
} Config;
typedef struct {
    char symbol[512];
    int most;
} Function;

static void *current;
static uint64_t capture;
static int loaded;

void stand_in_capture(uint64_t number) { capture = number; }
int stand_in_loaded(void) { return loaded; }
int cuStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = capture != 0;
    return 0;
}
int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *number, void *graph, void *nodes, size_t *count) {
    (void)stream, (void)graph, (void)nodes, (void)count;
    *status = capture != 0, *number = capture;
    return 0;
}
int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *number, void *graph, void *nodes, void *edges, size_t *count) {
    (void)edges;
    return cuStreamGetCaptureInfo_v2(stream, status, number, graph, nodes, count);
}

static FILE *log_file(void) {
    const char *path = getenv("STAND_IN_LOG");
    return path ? fopen(path, "a") : NULL;
}

int cuGetErrorString(int code, const char **words) {
    (void)code;
    *words = "refused by the stand-in";
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = (void *)(uintptr_t)(0x1000 + device);
    return 0;
}
int cuCtxSetCurrent(void *context) {
    current = context;
    return 0;
}
int cuCtxGetCurrent(void **context) {
    *context = current;
    return 0;
}
int cuCtxGetDevice(int *device) {
    *device = (int)((uintptr_t)current - 0x1000);
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    int capability = atoi(getenv("STAND_IN_CAPABILITY"));
    *value = attribute == 75 ? capability / 10 : capability % 10;
    return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
    (void)mode;
    return 0;
}
int cuModuleLoadData(void **module, const void *image) {
    if (memcmp(image, "\177ELF", 4)) return 200;
    *module = (void *)image;
    loaded++;
    return 0;
}
int cuModuleGetFunction(Function **function, void *module, const char *symbol) {
    (void)module;
    *function = calloc(1, sizeof **function);
    snprintf((*function)->symbol, sizeof (*function)->symbol, "%s", symbol);
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, Function *function) {
    *value = attribute == 8 ? function->most : 0;
    return 0;
}
int cuFuncSetAttribute(Function *function, int attribute, int value) {
    if (attribute == 8) function->most = value;
    return 0;
}
int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, void *stream) {
    FILE *log = log_file();
    if (log) fprintf(log, "memset at=%llx value=%d bytes=%zu stream=%zu\n", (unsigned long long)at, value, bytes, (size_t)stream), fclose(log);
    return 0;
}
static int words(uint64_t at, unsigned value, size_t count, unsigned bytes, void *stream) {
    FILE *log = log_file();
    if (log) fprintf(log, "memset at=%llx value=%x words=%zu of %u stream=%zu\n", (unsigned long long)at, value, count, bytes, (size_t)stream), fclose(log);
    return 0;
}
int cuMemsetD16Async(uint64_t at, unsigned short value, size_t count, void *stream) { return words(at, value, count, 2, stream); }
int cuMemsetD32Async(uint64_t at, unsigned value, size_t count, void *stream) { return words(at, value, count, 4, stream); }
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *at, const uint64_t *shape, const uint64_t *strides,
                           const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion, int fill) {
    if (((uintptr_t)map & 63) || interleave || fill) return 1;
    uint64_t words[16] = {(uint64_t)(uintptr_t)at, (uint64_t)type, rank, (uint64_t)swizzle, (uint64_t)promotion};
    for (unsigned i = 0; i < rank; i++) {
        if (steps[i] != 1) return 1;
        words[5 + i] = shape[i] << 32 | box[i];
        if (i + 1 < rank) words[10 + i] = strides[i];
    }
    memcpy(map, words, sizeof words);
    return 0;
}
int cuLaunchKernelEx(const Config *config, Function *function, void **arguments, void **extra) {
    (void)extra;
    if (config->shared > 48u << 10 && (unsigned)function->most < config->shared) return 1;
    FILE *log = log_file();
    if (!log) return 0;
    unsigned cluster[3] = {0, 0, 0}, cooperative = 0;
    for (unsigned i = 0; i < config->count; i++) {
        if (config->attributes[i].id == 4) memcpy(cluster, config->attributes[i].value, sizeof cluster);
        if (config->attributes[i].id == 2) cooperative = config->attributes[i].value[0];
    }
    fprintf(log, "%s grid=%u,%u,%u block=%u,%u,%u shared=%u stream=%zu cluster=%u,%u,%u cooperative=%u", function->symbol, config->grid[0],
            config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2], config->shared,
            (size_t)config->stream, cluster[0], cluster[1], cluster[2], cooperative);
    const char *sizes = getenv("STAND_IN_SIZES");
    for (int i = 0; sizes && *sizes; i++) {
        char *end;
        long bytes = strtol(sizes, &end, 10);
        fputc(' ', log);
        for (long b = 0; b < bytes; b++) fprintf(log, "%02x", ((unsigned char *)arguments[i])[b]);
        sizes = *end == ',' ? end + 1 : end;
    }
    fputc('\n', log);
    fclose(log);
    return 0;
}
