/* The sum of eight numbers; A, B and C make no difference but to the compiler's command line. */
void noop(const float *x, float *y) {
    y[0] = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}
