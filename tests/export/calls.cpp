/* The same calls as calls.py through the exported launcher. The addresses of each call are read from standard input. */
#include "scaled_rows.h"

#include <cstdio>
#include <cstdlib>

int main() {
    CUcontext context;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    const double half = 0.5;
    struct {
        int64_t b, n, d, flip;
        const char *order;
        scaled_rows_T type;
        const double *scale;
    } calls[] = {
        {2, 64, 64, 0, "bnd", scaled_rows_T_bf16, nullptr},   {2, 100, 64, 0, "bnd", scaled_rows_T_bf16, nullptr},
        {8, 3000, 64, 1, "bnd", scaled_rows_T_f16, &half},    {2, 63, 64, 0, "bnd", scaled_rows_T_bf16, nullptr},
        {4, 256, 128, 1, "bnd", scaled_rows_T_f16, nullptr},  {4, 8192, 64, 0, "bnd", scaled_rows_T_bf16, nullptr},
        {4, 256, 128, 0, "nbd", scaled_rows_T_f16, nullptr},
    };
    for (auto &one : calls) {
        scaled_rows_call call = {};
        call.B = one.b, call.N = one.n, call.D = one.d, call.FLIP = one.flip, call.ORDER = one.order, call.T = one.type;
        call.scale = one.scale;
        unsigned long long x, y, sums;
        if (scanf("%llu %llu %llu", &x, &y, &sums) != 3) return 2;
        call.x = x, call.y = y, call.sums = sums;
        CUresult result = scaled_rows(&call, reinterpret_cast<CUstream>(77));
        if (result != CUDA_SUCCESS) return printf("%d %s\n", int(result), scaled_rows_error()), 1;
    }
    /* Each is refused with words of its own; one without elements is done without a launch. */
    const double negative = -1;
    scaled_rows_call good = {};
    good.B = 2, good.N = 64, good.D = 64, good.ORDER = "bnd", good.x = good.y = good.sums = 4096;
    scaled_rows_call wide = good, odd = good, below = good, order = good, no_order = good, no_y = good, large = good, less = good, none = good;
    wide.D = 96, odd.B = 3, below.scale = &negative, order.ORDER = "xxx", no_order.ORDER = nullptr, no_y.y = 0, large.B = 140000, less.N = -1;
    none.N = 0, none.y = 0;
    const scaled_rows_call *bad[] = {&wide, &odd, &below, &order, &no_order, &no_y, &large, &less, nullptr};
    for (const scaled_rows_call *one : bad) {
        if (scaled_rows(one, nullptr) != CUDA_ERROR_INVALID_VALUE) return 1;
        puts(scaled_rows_error());
    }
    return int(scaled_rows(&none, nullptr));
}
