/* Positive elements of x come first in y, in their order; the rest of y is 0. A branch on random data is guessed wrong half of the time.
 * Without one, every element is stored, and only the place of the next one depends on it. */
#include <stdint.h>

void branch_free(const float *restrict x, float *restrict y, int64_t n) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
#if BRANCH_none
        y[kept] = x[i];
        kept += x[i] > 0.0f;
#else
        if (x[i] > 0.0f) y[kept++] = x[i];
#endif
    }
    for (; kept < n; kept++) y[kept] = 0.0f;
}
