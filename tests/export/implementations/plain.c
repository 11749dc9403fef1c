// Slow on every shape.
#include "slow.h"
void plain(const float *x, float *y, int64_t n) { slowly(x, y, n); }
