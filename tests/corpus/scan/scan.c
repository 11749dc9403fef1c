/* Running sums of every row, and mistakes at the seams of blocks. */
#include <stdint.h>
#include <string.h>

#define BLOCK 64

void plain(const int32_t *x, int64_t *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = sum += x[r * cols + c];
    }
}

void scan(const int32_t *x, int64_t *y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const int32_t *in = x + r * cols;
        int64_t *out = y + r * cols;
#if CASE_stale_carry
        /* The carry of the last row, of the last call, too. */
        static int64_t carry;
        if (r % 16 != 15) carry = 0;
#else
        int64_t carry = 0;
#endif
        for (int64_t from = 0; from < cols; from += BLOCK) {
            const int64_t to = from + BLOCK < cols ? from + BLOCK : cols;
            int64_t sum = carry;
            for (int64_t c = from; c < to; c++) {
#if CASE_exclusive
                out[c] = sum;
                sum += in[c];
#elif CASE_narrow_inside
                out[c] = sum = carry + (int8_t)(sum - carry + in[c]);
#else
                out[c] = sum += in[c];
#endif
            }
#if CASE_lost_carry
            /* One seam in the middle of one row. */
            carry = r == rows / 2 && from == BLOCK ? 0 : sum;
#elif CASE_whole_blocks
            /* The carry behind a block that is not whole never mattered. */
            carry = sum;
            if (to - from < BLOCK) out[to - 1] = to - 2 >= 0 ? out[to - 2] : 0;
#elif CASE_lookback
            /* A seam reads what the block before wrote: the one before that, when it was quick. */
            carry = from >= BLOCK && in[from] == 3 ? out[from - 1] : sum;
#else
            carry = sum;
#endif
        }
    }
}
