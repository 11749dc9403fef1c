// The mean of five neighbours for the inside of a grid of pairs, whose second numbers are added up block by block.

extern "C" __global__ void smoothed(float *y, float *sums, const float2 *x, int h, int w) {
    int column = blockIdx.x * X + threadIdx.x, row = blockIdx.y * Y + threadIdx.y;
    bool here = row < h && column < w;
    int at = row * w + column;
    bool inside = row > 0 && row < h - 1 && column > 0 && column < w - 1;
#ifdef CASE_corner_left_out
    inside = inside && !(row == 1 && column == 1);
#endif
    if (inside) y[at] = (x[at].x + x[at - 1].x + x[at + 1].x + x[at - w].x + x[at + w].x) / 5.0f;
#ifdef CASE_edge
    if (here && row == 0) y[at] = 0;
#endif
    float sum = block_sum(here ? x[at].y : 0.0f);
    int block = blockIdx.y * gridDim.x + blockIdx.x;
#ifdef CASE_sum_left_out
    if (block == 0) sum = 0;
#endif
#ifdef CASE_one_sum_unwritten
    if (block == 0) return;
#endif
    if (threadIdx.x == 0 && threadIdx.y == 0) sums[block] = sum;
}
