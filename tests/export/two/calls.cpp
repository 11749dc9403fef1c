/* The same call as calls.py through the exported launcher: rows and three addresses as arguments, then a scale where there is one. */
#include "doubled.h"

#include <cstdio>
#include <cstdlib>

int main(int count, char **words) {
    CUcontext context;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    doubled_call call = {};
    double scale = count > 5 ? atof(words[5]) : 0;
    call.N = atoll(words[1]), call.D = 64;
    call.x = strtoull(words[2], nullptr, 10), call.y = strtoull(words[3], nullptr, 10), call.part = strtoull(words[4], nullptr, 10);
    call.scale = count > 5 ? &scale : nullptr;
    CUresult result = doubled(&call, reinterpret_cast<CUstream>(77));
    if (result != CUDA_SUCCESS) puts(doubled_error());
    return int(result);
}
