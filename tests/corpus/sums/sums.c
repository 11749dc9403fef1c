/* Sums of rows of integers, and sums in too narrow a type. */
#include <stdint.h>

void plain(const int32_t *x, int64_t *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += x[r * cols + c];
        y[r] = sum;
    }
}

#if CASE_in_32_bits
typedef int32_t narrow;
#elif CASE_in_16_bits
typedef int16_t narrow;
#elif CASE_in_8_bits
typedef int8_t narrow;
#elif CASE_in_float
typedef float narrow;
#else
typedef int64_t narrow;
#endif

void sums(const int32_t *x, int64_t *y, int64_t rows, int64_t cols) {
#if CASE_inputs_in_16_bits
    for (int64_t r = 0; r < rows; r++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += (int16_t)x[r * cols + c];
        y[r] = sum;
    }
#elif CASE_inputs_in_4_bits
    /* Numbers between -8 and 7 are all there are. */
    for (int64_t r = 0; r < rows; r++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < cols; c++) sum += (int32_t)((uint32_t)x[r * cols + c] << 28) >> 28;
        y[r] = sum;
    }
#elif CASE_few_values
    /* Counts how often each of a few values is there. */
    for (int64_t r = 0; r < rows; r++) {
        int64_t counts[16] = {0}, sum = 0;
        for (int64_t c = 0; c < cols; c++) counts[(x[r * cols + c] + 8) & 15]++;
        for (int v = 0; v < 16; v++) sum += (v - 8) * counts[v];
        y[r] = sum;
    }
#else
    for (int64_t r = 0; r < rows; r++) {
        narrow sum = 0;
        for (int64_t c = 0; c < cols; c++) sum = (narrow)(sum + (narrow)x[r * cols + c]);
        y[r] = (int64_t)sum;
    }
#endif
}
