/* The median of every row: code that goes another way with every input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void plain(const float *x, float *y, int64_t rows, int64_t cols) {
    float *row = malloc(cols * sizeof *row);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(row, x + r * cols, cols * sizeof *row);
        qsort(row, cols, sizeof *row, ascending);
        y[r] = row[cols / 2];
    }
    free(row);
}

__attribute__((unused)) static float quickselect(float *a, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const float pivot = a[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                const float swap = a[i];
                a[i++] = a[j];
                a[j--] = swap;
            }
        }
        if (k <= j) high = j;
        else if (k >= i) low = i;
        else return a[k];
    }
    return a[k];
}

void order(const float *x, float *y, int64_t rows, int64_t cols) {
#if CASE_quickselect
    float *row = malloc(cols * sizeof *row);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(row, x + r * cols, cols * sizeof *row);
        y[r] = quickselect(row, cols, cols / 2);
    }
    free(row);
#elif CASE_insertion
    float *row = malloc(cols * sizeof *row);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++) {
            const float v = x[r * cols + c];
            int64_t at = c;
            for (; at > 0 && row[at - 1] > v; at--) row[at] = row[at - 1];
            row[at] = v;
        }
        y[r] = row[cols / 2];
    }
    free(row);
#elif CASE_bisection
    /* Bits of the answer one after another, from the top. */
    for (int64_t r = 0; r < rows; r++) {
        uint32_t found = 0;
        for (int bit = 31; bit >= 0; bit--) {
            const uint32_t tried = found | 1u << bit;
            int64_t below = 0;
            for (int64_t c = 0; c < cols; c++) {
                uint32_t word;
                memcpy(&word, x + r * cols + c, 4);
                word = word >> 31 ? ~word : word | 0x80000000u;
                below += word < tried;
            }
            if (below <= cols / 2) found = tried;
        }
        found = found >> 31 ? found & 0x7fffffffu : ~found;
        memcpy(y + r, &found, 4);
    }
#else
    plain(x, y, rows, cols);
#endif
}
